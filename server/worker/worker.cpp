#include "server/worker/worker.h"

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/http/run_on.h"
#include "server/worker/worker_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_tuple = asio::as_tuple(asio::use_awaitable);
// What closing handshakes and last answers may take when the process ends.
constexpr auto k_farewell = 2s;

const WorkerOptions& checked(const WorkerOptions& options) {
  if (options.slots < 1) throw Error(Code::usage, "a worker has at least one slot");
  if (options.token.empty() && !is_loopback(parse_listen_address(options.listen))) {
    throw Error(Code::invalid,
                fmt::format("a worker that listens on {} needs a token: set NAVTALK_WORKER_TOKEN "
                            "or give --token-file, or listen on 127.0.0.1",
                            options.listen));
  }
  return options;
}

}  // namespace

Worker::State::State(WorkerOptions worker_options, Engine worker_engine)
    : options(checked(worker_options)),
      engine(std::move(worker_engine)),
      slots(options.slots),
      phase_changed(io, asio::steady_timer::time_point::max()),
      drained(io, asio::steady_timer::time_point::max()),
      watch(io),
      loop([this] {
        if (!engine.use) return;
        DeviceUse now = engine.use();
        use.with([&](DeviceUse& latest) { latest = std::move(now); });
      }) {
  server.emplace(io, parse_listen_address(options.listen), HttpLimits{}, routes());
}

asio::awaitable<void> Worker::State::load() {
  const auto begin = Clock::now();
  try {
    co_await run_on(loop.executor(), [this] {
      engine.load([this] { loop.turned(); });
      loop.turned();  // however long that took, it is not stuck
    });
    if (options.load_avatar && !options.avatar.empty()) co_await loaded_avatar(options.avatar);
    phase = WorkerPhase::ready;
    const std::chrono::duration<double> took = Clock::now() - begin;
    log::info("ready for sessions",
              {{"device", engine.device}, {"took_s", fmt::format("{:.3f}", took.count())}});
  } catch (const std::exception& error) {
    // Whoever started this process learns more from its end than from a worker that stays broken.
    if (phase == WorkerPhase::starting) start_problem = std::current_exception();
    phase = WorkerPhase::failed;
    problem = error.what();
    log::error("loading failed", {{"error", problem}});
    if (start_problem) shut_down();
  }
  phase_changed.cancel();
}

asio::awaitable<AvatarSize> Worker::State::loaded_avatar(std::string id) {
  if (const auto known = avatars.find(id); known != avatars.end()) co_return known->second;
  const AvatarSize size = co_await run_on(loop.executor(), [this, &id] {
    const AvatarSize prepared = engine.prepare(id, [this] { loop.turned(); });
    loop.turned();
    return prepared;
  });
  avatars.emplace(id, size);
  co_return size;
}

// A worker whose gateway is gone costs money and memory for nobody.
asio::awaitable<void> Worker::State::watch_gateway() {
  while (!stopping && options.gateway_silence > 0ms) {
    watch.expires_after(std::min<std::chrono::milliseconds>(1s, options.gateway_silence / 4));
    co_await watch.async_wait(k_tuple);
    // An open session is a gateway that answers pings.
    if (slots.sessions() > 0) last_contact = Clock::now();
    const bool known = last_contact != Clock::time_point{};
    const auto silence = Clock::now() - (known ? last_contact : started);
    if (stopping || silence < (known ? options.gateway_silence : options.first_contact)) continue;
    log::warn(
        "no gateway speaks to this worker any more: it ends",
        {{"silent_s", fmt::format("{:.0f}", std::chrono::duration<double>(silence).count())}});
    shut_down();
  }
}

void Worker::State::announce_drain(std::chrono::milliseconds notice) {
  draining = true;
  const nlohmann::ordered_json frame = {
      {"type", "session.draining"}, {"notice_s", std::chrono::duration<double>(notice).count()}};
  for (const auto& [number, socket] : sockets) socket->offer({.bytes = frame.dump()});
}

asio::awaitable<void> Worker::State::end_sessions(std::chrono::milliseconds notice) {
  const auto until = Clock::now() + notice;
  while (!sockets.empty() && draining && Clock::now() < until) {
    drained.expires_at(until);
    co_await drained.async_wait(k_tuple);
  }
  if (!draining) co_return;  // woken up again meanwhile
  std::vector<SessionNumber> left;
  for (const auto& [number, socket] : sockets) left.push_back(number);
  for (const SessionNumber number : left)
    end_session(number, "drained", "this worker is going away");
}

void Worker::State::shut_down() {
  if (std::exchange(stopping, true)) return;
  watch.cancel();
  announce_drain(options.stop_notice);
  const auto farewell = [](State* self) -> asio::awaitable<void> {
    co_await self->end_sessions(self->options.stop_notice);
    self->server->stop();
    co_await self->server->finished(k_farewell);
    self->io.stop();
  };
  asio::co_spawn(io, farewell(this), asio::detached);
}

Worker::Worker(WorkerOptions options, Engine engine)
    : state_(std::make_unique<State>(std::move(options), std::move(engine))) {}

Worker::~Worker() = default;

std::string Worker::url() const { return state_->server->url(); }

void Worker::run(const std::stop_token& stop) {
  State& state = *state_;
  asio::co_spawn(state.io, state.load(), asio::detached);
  asio::co_spawn(state.io, state.watch_gateway(), asio::detached);
  const std::stop_callback leave(
      stop, [&state] { asio::post(state.io, [&state] { state.shut_down(); }); });
  state.io.run();
  if (state.start_problem) std::rethrow_exception(state.start_problem);
}

}  // namespace navtalk::server
