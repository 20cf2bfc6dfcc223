#include "server/worker/worker_api.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <nlohmann/json.hpp>

#include "scheduler/health/worker_health.h"
#include "scheduler/health/worker_protocol.h"
#include "server/http/bearer.h"
#include "server/http/local_only.h"
#include "server/http/metrics.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

namespace {

constexpr double k_max_notice_s = 86'400;

std::string text_member(const nlohmann::json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    throw Error(Code::usage, std::string("the body lacks \"") + key + "\", a string");
  return *found;
}

WorkerHealth::Gpu gpu_of(DeviceUse device) {
  return {.name = std::move(device.name),
          .vram_total = device.memory_total,
          .vram_used = device.memory_used,
          .util = device.utilisation,
          .temperature_c = device.temperature};
}

Json memory_of(const MemoryLedger& ledger, const EngineCounters& engine) {
  return {{"reserved", ledger.all_reserved()}, {"committed", ledger.committed()},
          {"limit", ledger.limit()},           {"out_of_memory", engine.out_of_memory},
          {"batches_halved", engine.halved},   {"largest_batch", engine.largest_batch}};
}

std::vector<std::uint64_t> epochs_of(const SlotTable& slots) {
  std::vector<std::uint64_t> epochs;
  for (const Slot& slot : slots.slots()) epochs.push_back(slot.epoch);
  return epochs;
}

}  // namespace

WorkerApi::WorkerApi(Parts parts, std::string token, std::string version)
    : parts_(std::move(parts)), token_(std::move(token)), version_(std::move(version)) {}

Router WorkerApi::router() {
  Router router;
  router.header(k_protocol_header, std::to_string(k_worker_protocol));
  router.guard([this](const Request& request) { return check(request); });
  const auto at_once = [](auto answer) {
    return [answer](const Request& request) -> asio::awaitable<Response> {
      co_return answer(request);
    };
  };
  router.on("GET", "/healthz", at_once([this](const Request&) { return health(); }));
  router.on("GET", "/metrics", at_once([this](const Request&) { return metrics(); }));
  router.on("POST", "/v1/pause", [this](const Request&) { return pause(); });
  router.on("POST", "/v1/wake", [this](const Request&) { return wake(); });
  router.on("POST", "/v1/drain",
            at_once([this](const Request& request) { return drain(request); }));
  router.on("POST", "/v1/prepare", [this](const Request& request) { return prepare(request); });
  router.on_socket("/v1/session", [this](const Request& request, Upgrade& upgrade) {
    return parts_.sessions.session(request, upgrade);
  });
  router.on_socket("/v1/job", [this](const Request& request, Upgrade& upgrade) {
    return parts_.sessions.job(request, upgrade);
  });
  return router;
}

// A worker is asked by gateways, never by pages. One without a token is there for programs of its own
// machine, and a page from elsewhere in a browser there must not pass for one of them.
std::optional<Response> WorkerApi::refuse_caller(const Request& request) const {
  if (token_.empty()) return refuse_foreign(request);
  if (!has_token(request, token_))
    return error_response(401, "unauthorised", "the worker's token is missing or wrong");
  if (std::optional<Response> refusal = refuse_pages(request)) return refusal;
  return refuse_untyped_body(request);
}

asio::awaitable<std::optional<Response>> WorkerApi::check(const Request& request) {
  if (std::optional<Response> refusal = refuse_caller(request)) co_return refusal;
  // A request without the header comes from a person with curl; a gateway always sends it.
  const auto version = request.header(k_protocol_header_lower_case);
  if (version && !is_worker_protocol(*version)) {
    co_return error_response(
        426, "protocol",
        "this worker speaks protocol " + std::to_string(k_worker_protocol) + ", not " + *version);
  }
  parts_.idle.note_contact();
  co_return std::nullopt;
}

Response WorkerApi::health() const {
  const ModelLifecycle& models = parts_.models;
  const bool loaded = models.phase() == Phase::ready || models.phase() == Phase::paused;
  const bool stuck = loaded && models.stuck();
  const WorkerHealth health{
      .version = version_,
      .instance = instance_,
      .state = stuck ? std::string(k_stuck) : parts_.sessions.state(),
      .device = models.device(),
      .gpu = gpu_of(models.device_use()),
      .slots = static_cast<int>(parts_.sessions.slots().slots().size()),
      .sessions = parts_.sessions.count(),
      .avatars = models.avatars().ids(),
      .lease_epochs = epochs_of(parts_.sessions.slots()),
      .uptime_s = std::chrono::duration<double>(Clock::now() - started_).count()};
  Json body = as_json(health);
  if (const auto ledger = parts_.room.ledger())
    body["memory"] = memory_of(*ledger, parts_.inference.counters());
  if (loaded && !stuck) return json_response(200, body);
  const std::string why = !models.problem().empty() ? models.problem()
                          : stuck ? "the work loop has made no heartbeat for too long"
                                  : "the worker is " + health.state;
  body["error"] = {{"code", health.state}, {"message", why}};
  return json_response(503, body);
}

asio::awaitable<Response> WorkerApi::pause() {
  ModelLifecycle& models = parts_.models;
  if (parts_.sessions.count() > 0)
    co_return error_response(409, "in_use", "there are sessions on this worker");
  if (models.phase() == Phase::paused) co_return health();
  if (models.phase() != Phase::ready)
    co_return error_response(409, "busy", "the worker is " + parts_.sessions.state());
  parts_.renderers.drop_idle();
  parts_.room.drop_frames();
  co_await models.pause();
  co_return health();
}

asio::awaitable<Response> WorkerApi::wake() {
  // Whoever asks while others wake it waits for the same outcome.
  co_await parts_.models.settled();
  if (parts_.stopping()) co_return error_response(503, "draining", "this worker is going away");
  parts_.sessions.cancel_drain();
  co_await parts_.models.wake();
  co_return health();
}

asio::awaitable<Response> WorkerApi::prepare(const Request& request) {
  const std::string avatar = text_member(json_body(request), "avatar");
  if (parts_.models.phase() != Phase::ready)
    co_return error_response(409, "busy", "the worker is " + parts_.sessions.state());
  const HeldAvatar size = co_await parts_.models.avatar(avatar);
  const Json answer = {
      {"avatar", avatar}, {"width", size->width}, {"height", size->height}, {"fps", size->fps}};
  co_return json_response(200, answer);
}

Response WorkerApi::drain(const Request& request) {
  const nlohmann::json body = json_body(request);
  const nlohmann::json notice = body.value("notice_s", nlohmann::json(30));
  if (!notice.is_number() || notice.get<double>() < 0 || notice.get<double>() > k_max_notice_s)
    throw Error(Code::usage, "notice_s is a number of seconds from 0 to 86400");
  const std::chrono::milliseconds bound(static_cast<std::int64_t>(notice.get<double>() * 1000));
  parts_.sessions.begin_drain(bound);
  asio::co_spawn(parts_.executor, parts_.sessions.end_sessions(bound), asio::detached);
  return json_response(202, {{"sessions", parts_.sessions.count()}});
}

Response WorkerApi::metrics() const {
  const ModelLifecycle& models = parts_.models;
  const WorkerSessions& sessions = parts_.sessions;
  const WorkerSessionCounters& counters = sessions.counters();
  MetricsPage page;
  const auto gauge = [&](const char* name, const char* help, double value) {
    page.gauge(name, help, value);
  };
  const auto total = [&](const char* name, const char* help, std::uint64_t value) {
    page.counter(name, help, static_cast<double>(value));
  };
  gauge("navtalk_worker_ready", "1 while the worker takes sessions",
        sessions.serving() && !models.stuck() ? 1 : 0);
  gauge("navtalk_worker_slots", "Sessions that the worker can hold at once",
        static_cast<double>(sessions.slots().slots().size()));
  gauge("navtalk_worker_sessions", "Sessions that the worker holds now", sessions.count());
  device_metrics(page);
  memory_metrics(page);
  gauge("navtalk_worker_heartbeat_age_seconds",
        "Time since the last heartbeat of the work loop or the inference engine, in seconds",
        std::chrono::duration<double>(models.since_heartbeat()).count());
  gauge("navtalk_worker_avatars", "Avatars that are loaded",
        static_cast<double>(models.avatars().count()));
  total("navtalk_worker_sessions_total", "Sessions opened since the worker started",
        counters.sessions);
  total("navtalk_worker_jobs_total", "Jobs begun since the worker started", counters.jobs);
  total("navtalk_worker_refused_total", "Sessions refused since the worker started",
        counters.refused);
  total("navtalk_worker_control_frames_total", "Control frames received from gateways",
        counters.control_frames);
  total("navtalk_worker_media_frames_total", "Binary frames received from gateways",
        counters.media_frames);
  total("navtalk_worker_media_bytes_total", "Bytes of the binary frames received from gateways",
        counters.media_bytes);
  live_metrics(page);
  return page.response();
}

// What is not known is left out: a zero would be a measurement.
void WorkerApi::device_metrics(MetricsPage& page) const {
  const DeviceUse device = parts_.models.device_use();
  page.gauge("navtalk_worker_memory_bytes", "Memory of the device in use, in bytes",
             static_cast<double>(device.memory_used));
  page.gauge("navtalk_worker_memory_total_bytes", "Memory of the device, in bytes",
             static_cast<double>(device.memory_total));
  if (device.utilisation)
    page.gauge("navtalk_worker_gpu_load_ratio",
               "Share of the last moments in which the GPU computed, 0 to 1", *device.utilisation);
  if (device.temperature)
    page.gauge("navtalk_worker_gpu_temperature_celsius",
               "Temperature of the GPU, in degrees Celsius", *device.temperature);
}

void WorkerApi::memory_metrics(MetricsPage& page) const {
  const EngineCounters engine = parts_.inference.counters();
  page.counter("navtalk_worker_out_of_memory_total",
               "Batches for which the device had no memory, since the worker started",
               static_cast<double>(engine.out_of_memory));
  page.counter("navtalk_worker_batches_halved_total",
               "Times that the largest batch became smaller for want of memory",
               static_cast<double>(engine.halved));
  page.gauge("navtalk_worker_largest_batch", "Faces that a batch may have now, at most",
             static_cast<double>(engine.largest_batch));
  page.counter("navtalk_worker_cpu_fallbacks_total",
               "Times that the nets were loaded on the CPU because the device had no memory",
               static_cast<double>(parts_.models.fallbacks()));
  page.counter("navtalk_worker_jobs_on_cpu_total",
               "Jobs that the CPU rendered because the device had no memory for them",
               static_cast<double>(parts_.renderers.on_cpu()));
  if (const auto took = parts_.models.pause_took_s())
    page.gauge("navtalk_worker_pause_seconds",
               "Time that the last pause took until the weights were off the device, in seconds",
               *took);
  if (const auto took = parts_.models.wake_took_s())
    page.gauge("navtalk_worker_wake_seconds",
               "Time that the last wake took until sessions could begin, in seconds", *took);
  const std::optional<MemoryLedger> ledger = parts_.room.ledger();
  if (!ledger) return;
  for (const MemoryUser user : k_memory_users)
    page.gauge(
        "navtalk_worker_memory_reserved_bytes",
        "Memory of the device that is reserved, in bytes: for the nets, their batches, avatars' "
        "frames, sessions and jobs",
        static_cast<double>(ledger->of(user)), {{"for", std::string(name(user))}});
  page.gauge("navtalk_worker_memory_limit_bytes",
             "Memory of the device that may be in use at most, in bytes",
             static_cast<double>(ledger->limit()));
  page.counter("navtalk_worker_memory_refused_total",
               "Reservations of the device's memory that found no room",
               static_cast<double>(ledger->refused));
}

void WorkerApi::live_metrics(MetricsPage& page) const {
  const LiveCounters& live = parts_.sessions.counters().live;
  const EngineCounters engine = parts_.inference.counters();
  const auto total = [&](const char* name, const char* help, std::uint64_t value,
                         const MetricLabels& labels = {}) {
    page.counter(name, help, static_cast<double>(value), labels);
  };
  const auto stage = [&](const char* name, double seconds) {
    page.counter("navtalk_worker_stage_seconds_total",
                 "Time of pictures in each stage, in seconds: waiting for the nets (queue), the "
                 "nets' work on sound "
                 "(features) and faces (inference), putting pictures together (compose) and coding "
                 "them (encode)",
                 seconds, {{"stage", name}});
  };
  const auto seconds = [](std::chrono::microseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  total("navtalk_worker_pictures_total", "Pictures sent to clients", live.pictures);
  total("navtalk_worker_generated_pictures_total", "Pictures whose lips the nets made",
        live.generated);
  total("navtalk_worker_late_pictures_total", "Pictures left out because their time was over",
        live.skipped);
  total("navtalk_worker_dropped_pictures_total",
        "Pictures dropped because the client read too slowly", live.dropped);
  total("navtalk_worker_overflows_total", "Inputs dropped because too much sound was waiting",
        live.overflows);
  page.counter("navtalk_worker_face_seconds_total",
               "Time from asking for lips until the nets had made them, in seconds",
               live.face_seconds);
  page.counter("navtalk_worker_encode_seconds_total", "Time spent on coding pictures, in seconds",
               live.encode_seconds);
  stage("queue", seconds(engine.queued));
  stage("features", seconds(engine.features));
  stage("inference", seconds(engine.drawing));
  stage("compose", live.compose_seconds);
  stage("encode", live.encode_seconds);
  total("navtalk_worker_batches_total", "Batches that the nets worked on", engine.batches);
  total("navtalk_worker_offline_faces_total", "Faces that the nets made for jobs", engine.offline);
  const auto asked = [&](const char* outcome, std::uint64_t count) {
    total("navtalk_worker_face_requests_total",
          "Faces that sessions asked the nets for, by outcome", count, {{"outcome", outcome}});
  };
  asked("made", engine.made);
  asked("late", engine.late);
  asked("cancelled", engine.cancelled);
  asked("crowded", engine.crowded);
  asked("failed", engine.failed);
  for (std::size_t i = 0; i < k_live_rates.size(); ++i) {
    page.gauge("navtalk_worker_live_sessions", "Live sessions now, by their pictures a second",
               live.sessions[i], {{"fps", text(k_live_rates[i])}});
  }
  total("navtalk_worker_rate_changes_total",
        "Changes of a session's pictures a second, because of overload or its end",
        live.rate_changes);
  page.counter("navtalk_worker_left_out_seconds_total",
               "Sound left out, silence first, because clients' clocks are faster, in seconds",
               live.left_out_seconds);
  page.gauge(
      "navtalk_worker_sound_ahead_seconds",
      "How far sound was ahead of the pictures in time of presentation when it was sent last, "
      "in seconds",
      live.sound_ahead_seconds);
}

}  // namespace navtalk::server
