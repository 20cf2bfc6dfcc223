#include "server/worker/worker.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "core/base/device_lost.h"
#include "core/files/temporary_folder.h"
#include "core/log/log.h"
#include "core/process/open_files.h"
#include "core/process/priority.h"
#include "gpu/engine/inference_engine.h"
#include "server/http/blocking_threads.h"
#include "server/http/connection/connection_caps.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"
#include "server/worker/device/device_room.h"
#include "server/worker/idle_shutdown.h"
#include "server/worker/model_lifecycle.h"
#include "server/worker/session/worker_sessions.h"
#include "server/worker/work_loop.h"
#include "server/worker/worker_api.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// What closing handshakes and last answers may take when the process ends.
constexpr auto k_last_answers = 2s;
constexpr std::size_t k_other_files = 128;  // that a worker may have open: models, avatars, devices

// A session has one picture and one sound at a time with the encoders. Each has its thread, so that the cores are shared by
// time, and not by pictures: who asks for large ones waits for them itself.
std::size_t encoders_for(int slots) {
  constexpr int k_most_encoders = 256;
  return static_cast<std::size_t>(std::clamp(2 * slots, 2, k_most_encoders));
}

std::size_t speakers_for(int slots) {
  const int half_the_cores = static_cast<int>(std::thread::hardware_concurrency()) / 2;
  return static_cast<std::size_t>(std::clamp(slots, 1, std::max(1, half_the_cores)));
}

ListenAddress checked_address(const WorkerOptions& options) {
  if (options.slots < 1) throw Error(Code::usage, "a worker has at least one slot");
  ListenAddress address = parse_listen_address(options.listen);
  if (!options.token.empty() || is_loopback(address)) return address;
  throw Error(Code::invalid, "a worker that listens on " + options.listen +
                                 " needs a token: set NAVTALK_WORKER_TOKEN or give --token-file, "
                                 "or listen on 127.0.0.1");
}

}  // namespace

// In this order (server/http/io_loop.h): what a line refers to stands above it, except for the threads, which end first
// since they resume coroutines.
struct Worker::Parts {
  Parts(const WorkerOptions& options, const Engine& engine)
      : address(checked_address(options)),
        stop_notice(options.stop_notice),
        models(io.get_executor(), engine,
               {.loop = loop,
                .loader = loader,
                .maker = maker,
                .encoders = encoders,
                .inference = inference},
               {.preload = options.load_avatar ? options.avatar : "",
                .stuck_after = options.stuck_after,
                .avatars = options.avatars}),
        room(engine.budget),
        renderers(io.get_executor(), reapers, options.renderers, room, inference,
                  engine.face_model),
        sessions(io.get_executor(), models, room,
                 {.inference = inference, .encoders = encoders, .speakers = speakers}, renderers,
                 job_files,
                 {.slots = options.slots,
                  .default_avatar = options.avatar,
                  .peer_idle_timeout = options.peer_idle_timeout}),
        idle(io.get_executor(),
             {.gateway_timeout = options.gateway_timeout, .first_contact = options.first_contact}),
        api({.executor = io.get_executor(),
             .models = models,
             .sessions = sessions,
             .renderers = renderers,
             .room = room,
             .idle = idle,
             .inference = inference,
             .stopping = [this] { return stopping; }},
            options.token, options.version),
        server(io, address, within_open_files({}, open_file_limit(), {.others = k_other_files}),
               api.router()),
        encoders(encoders_for(options.slots)),
        speakers(speakers_for(options.slots)),
        inference(engine.backend, engine.limits, engine.lanes),
        loop([this] { look_at_device(); }) {
    job_files.post([] { remove_abandoned_folders(); });
    // Where one session is all that there is, it waits for what is loaded.
    if (options.slots > 1) {
      loader.post([] { yield_to_others(); });
      maker.post([] { yield_to_others(); });
    }
  }

  // They ask the inference engine, which ends before the coroutines that hold them.
  ~Parts() { renderers.end_all(); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  asio::awaitable<void> start();
  asio::awaitable<void> end_when_idle();
  void look_at_device();
  asio::awaitable<void> load_again();
  asio::awaitable<void> give_up_device();
  void shut_down();
  asio::awaitable<void> end();

  const ListenAddress address;
  const std::chrono::milliseconds stop_notice;
  bool stopping = false;
  bool device_lost = false;
  // Pictures that the device had no memory for: as the work loop knows, and those for which the nets were loaded again.
  std::uint64_t exhausted = 0, answered = 0;
  IoLoop io;
  ModelLifecycle models;
  DeviceRoom room;
  Renderers renderers;
  WorkerSessions sessions;
  IdleShutdown idle;
  WorkerApi api;
  HttpServer server;
  CoroutineScope coroutines{io};
  BlockingThreads loader{1}, maker{1};
  BlockingThreads encoders, speakers, job_files{1}, reapers{1};
  InferenceEngine inference;
  WorkLoop loop;  // waits for the inference engine
};

// Whoever started this process learns more from its end than from a worker that stays broken.
asio::awaitable<void> Worker::Parts::start() {
  co_await models.start();
  if (models.start_problem()) shut_down();
}

asio::awaitable<void> Worker::Parts::end_when_idle() {
  const std::function<bool()> has_sessions = [this] { return sessions.count() > 0; };
  const bool expired = co_await idle.expired(has_sessions);
  if (expired) shut_down();
}

// On the work loop's thread.
void Worker::Parts::look_at_device() {
  models.sample_device();
  const EngineCounters counters = inference.counters();
  if (counters.lost > 0 || models.device_lost())
    return asio::post(io, [this] { asio::co_spawn(io, give_up_device(), asio::detached); });
  if (std::exchange(exhausted, counters.exhausted) == counters.exhausted) return;
  asio::post(io, [this] { asio::co_spawn(io, load_again(), asio::detached); });
}

// Others took the device's memory: what is left may do, or the CPU.
asio::awaitable<void> Worker::Parts::load_again() {
  if (answered == inference.counters().exhausted) co_return;
  log::error(
      "the device has no memory for a single picture: its sessions go to other workers, and "
      "the nets are loaded again");
  const std::function<asio::awaitable<void>()> sessions_over = [this] {
    return sessions.give_away("the device of this worker is out of memory");
  };
  co_await models.reload(sessions_over);
  answered = inference.counters().exhausted;
}

// A process that has lost its device cannot get it back: whoever started it starts another one.
asio::awaitable<void> Worker::Parts::give_up_device() {
  if (std::exchange(device_lost, true)) co_return;
  log::error("the device is lost: its sessions go to other workers, and this one ends");
  co_await sessions.give_away("the device of this worker is lost");
  shut_down();
}

void Worker::Parts::shut_down() {
  if (std::exchange(stopping, true)) return;
  idle.stop();
  sessions.begin_drain(stop_notice);
  asio::co_spawn(io, end(), asio::detached);
}

asio::awaitable<void> Worker::Parts::end() {
  co_await sessions.end_sessions(stop_notice);
  server.stop();
  co_await server.finished(k_last_answers);
  io.stop();
}

Worker::Worker(WorkerOptions options, const Engine& engine)
    : parts_(std::make_unique<Parts>(options, engine)) {}

Worker::~Worker() = default;

std::string Worker::url() const { return parts_->server.url(); }

void Worker::run(const std::stop_token& stop) {
  Parts& parts = *parts_;
  asio::co_spawn(parts.io, parts.start(), asio::detached);
  asio::co_spawn(parts.io, parts.end_when_idle(), asio::detached);
  const std::stop_callback leave(
      stop, [&parts] { asio::post(parts.io, [&parts] { parts.shut_down(); }); });
  parts.io.run();
  if (parts.models.start_problem()) std::rethrow_exception(parts.models.start_problem());
  if (parts.device_lost) throw DeviceLost("the device of this worker is lost");
}

}  // namespace navtalk::server
