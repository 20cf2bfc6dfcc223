
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/text/number.h"
#include "server/http/bearer.h"
#include "server/http/metrics.h"
#include "server/http/run_on.h"
#include "server/worker/worker_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_tuple = asio::as_tuple(asio::use_awaitable);
constexpr double k_max_notice_s = 86'400;

// A missing header is a person with curl; a gateway always says what it speaks.
bool speaks_our_protocol(const Request& request) {
  const std::string text = request.header("x-navtalk-protocol").value_or("1");
  std::string_view rest = text;
  const auto major = take_number<int>(rest);
  return major == k_protocol && (rest.empty() || rest.front() == '.');
}

std::string text_member(const nlohmann::json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    throw Error(Code::usage, std::string("the body lacks \"") + key + "\", a text");
  return *found;
}

}  // namespace

Router Worker::State::routes() {
  Router router;
  router.header("X-Navtalk-Protocol", std::to_string(k_protocol));
  router.guard([this](const Request& request) { return check(request); });
  const auto now = [](auto answer) {
    return [answer](const Request& request) -> asio::awaitable<Response> {
      co_return answer(request);
    };
  };
  router.on("GET", "/healthz", now([this](const Request&) { return healthz(); }));
  router.on("GET", "/metrics", now([this](const Request&) { return metrics(); }));
  router.on("POST", "/v1/pause", [this](const Request&) { return pause(); });
  router.on("POST", "/v1/wake", [this](const Request&) { return wake(); });
  router.on("POST", "/v1/drain", now([this](const Request& request) { return drain(request); }));
  router.on("POST", "/v1/prepare", [this](const Request& request) { return prepare(request); });
  router.on_socket("/v1/session", [this](const Request& request, Upgrade& upgrade) {
    return session(request, upgrade);
  });
  return router;
}

asio::awaitable<std::optional<Response>> Worker::State::check(const Request& request) {
  if (!has_token(request, options.token)) {
    co_return error_response(401, "unauthorized", "the worker's token is missing or wrong");
  }
  if (!speaks_our_protocol(request)) {
    co_return error_response(426, "protocol",
                             "this worker speaks protocol " + std::to_string(k_protocol) +
                                 ", not " + request.header("x-navtalk-protocol").value_or(""));
  }
  last_contact = Clock::now();
  co_return std::nullopt;
}

std::string Worker::State::state() const {
  switch (phase) {
    case WorkerPhase::starting:
    case WorkerPhase::waking:
      return "starting";
    case WorkerPhase::ready:
      if (draining) return "stopping";
      return slots.sessions() > 0 ? "running" : "idle";
    case WorkerPhase::pausing:
      return "stopping";
    case WorkerPhase::paused:
      return "paused";
    case WorkerPhase::failed:
      break;
  }
  return "failed";
}

Response Worker::State::healthz() const {
  const bool late = stuck();
  const bool loaded = phase == WorkerPhase::ready || phase == WorkerPhase::paused;
  const std::string state = late && loaded ? "stuck" : this->state();
  const DeviceUse device = use.with([](const DeviceUse& latest) { return latest; });
  Json body = {{"version", options.version},
               {"protocol", k_protocol},
               {"instance", instance},
               {"state", state},
               {"device", engine.device},
               {"gpu",
                {{"name", device.name},
                 {"vram_total", device.memory_total},
                 {"vram_used", device.memory_used},
                 {"util", device.utilisation ? Json(*device.utilisation) : Json(nullptr)}}},
               {"slots", options.slots},
               {"sessions", slots.sessions()}};
  Json names = Json::array();
  for (const auto& [avatar, size] : avatars) names.push_back(avatar);
  body["avatars"] = std::move(names);
  Json epochs = Json::array();
  for (const Slot& slot : slots.slots()) epochs.push_back(slot.epoch);
  body["lease_epochs"] = std::move(epochs);
  body["uptime_s"] = std::chrono::duration<double>(Clock::now() - started).count();
  if (loaded && !late) return json_response(200, body);
  const std::string why = !problem.empty() ? problem
                          : late && loaded ? "the work loop has not turned for too long"
                                           : "the worker is " + state;
  body["error"] = {{"code", state}, {"message", why}};
  return json_response(503, body);
}

asio::awaitable<Response> Worker::State::pause() {
  if (slots.sessions() > 0)
    co_return error_response(409, "in_use", "there are sessions on this worker");
  if (phase == WorkerPhase::paused) co_return healthz();
  if (phase != WorkerPhase::ready)
    co_return error_response(409, "busy", "the worker is " + state());
  phase = WorkerPhase::pausing;
  try {
    co_await run_on(loop.executor(), [this] {
      engine.unload();
      loop.turned();
    });
    phase = WorkerPhase::paused;
    log::info("paused: the weights are off the device");
  } catch (const std::exception& error) {
    phase = WorkerPhase::failed;
    problem = error.what();
  }
  phase_changed.cancel();
  co_return healthz();
}

asio::awaitable<Response> Worker::State::wake() {
  // Whoever asks while others wake it waits for the same outcome.
  while (phase == WorkerPhase::waking || phase == WorkerPhase::starting ||
         phase == WorkerPhase::pausing) {
    co_await phase_changed.async_wait(k_tuple);
  }
  if (stopping) co_return error_response(503, "draining", "this worker is going away");
  draining = false;
  if (phase == WorkerPhase::paused) {
    phase = WorkerPhase::waking;
    co_await load();
  }
  co_return healthz();
}

asio::awaitable<Response> Worker::State::prepare(const Request& request) {
  std::string avatar = text_member(json_body(request), "avatar");
  if (phase != WorkerPhase::ready)
    co_return error_response(409, "busy", "the worker is " + state());
  const AvatarSize size = co_await loaded_avatar(avatar);
  const Json answer = {
      {"avatar", avatar}, {"width", size.width}, {"height", size.height}, {"fps", size.fps}};
  co_return json_response(200, answer);
}

Response Worker::State::drain(const Request& request) {
  const nlohmann::json body = json_body(request);
  const nlohmann::json notice = body.value("notice_s", nlohmann::json(30));
  if (!notice.is_number() || notice.get<double>() < 0 || notice.get<double>() > k_max_notice_s)
    throw Error(Code::usage, "notice_s is a number of seconds from 0 to 86400");
  const std::chrono::milliseconds bound(static_cast<std::int64_t>(notice.get<double>() * 1000));
  announce_drain(bound);
  asio::co_spawn(io, end_sessions(bound), asio::detached);
  return json_response(202, {{"sessions", slots.sessions()}});
}

Response Worker::State::metrics() const {
  MetricsPage page;
  const DeviceUse device = use.with([](const DeviceUse& latest) { return latest; });
  page.gauge("navtalk_worker_ready", "1 while it takes sessions", serving() && !stuck() ? 1 : 0);
  page.gauge("navtalk_worker_slots", "Sessions that it can hold", options.slots);
  page.gauge("navtalk_worker_sessions", "Sessions that it holds", slots.sessions());
  page.gauge("navtalk_worker_memory_bytes", "Device memory in use",
             static_cast<double>(device.memory_used));
  page.gauge("navtalk_worker_turn_age_seconds", "Time since the work loop turned",
             std::chrono::duration<double>(loop.since_turn()).count());
  page.gauge("navtalk_worker_avatars", "Avatars that are loaded",
             static_cast<double>(avatars.size()));
  page.counter("navtalk_worker_sessions_total", "Sessions opened",
               static_cast<double>(counts.sessions));
  page.counter("navtalk_worker_refused_total", "Sessions refused",
               static_cast<double>(counts.refused));
  page.counter("navtalk_worker_control_frames_total", "Control frames received",
               static_cast<double>(counts.control_frames));
  page.counter("navtalk_worker_media_frames_total", "Binary frames received",
               static_cast<double>(counts.media_frames));
  page.counter("navtalk_worker_media_bytes_total", "Bytes in them",
               static_cast<double>(counts.media_bytes));
  return page.response();
}

}  // namespace navtalk::server
