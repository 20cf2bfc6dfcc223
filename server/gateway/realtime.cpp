// GET /v1/realtime: one user's session, from session.start to goodbye.
//
//   client ── session.start ──► obtain_slot.cpp: a place in the queue, a slot, a ready worker
//                                    │                     ▲
//                                    │                     └── open_on_worker.cpp: one attempt
//                                    ▼
//                               relay.cpp: frames both ways ──► end_lease: the slot is given back
#include <boost/asio/awaitable.hpp>

#include "core/log/log.h"
#include "server/gateway/gateway_state.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_try_again = 1s;  // to give a slot back, while the store is away

}  // namespace

asio::awaitable<std::optional<Response>> Gateway::State::realtime(const Request&,
                                                                  Upgrade& upgrade) {
  if (stopping) co_return error_response(503, "draining", "this gateway is going away");
  if (sessions.size() >= options.max_sessions) {
    Response refusal =
        error_response(503, "no_capacity", "this gateway has as many sessions as it may");
    refusal.headers.emplace_back("Retry-After", "10");
    co_return refusal;
  }
  SocketLimits limits;
  limits.silence = options.client_silence;
  limits.write = options.slow_client;
  const std::unique_ptr<WebSocket> socket = co_await upgrade.accept(limits);
  if (!socket) co_return std::nullopt;
  {
    LiveSession session(*socket, io.get_executor());
    session.claimant.id = WaiterId{random_id()};
    socket->on_activity([&session] { session.signal.ring(); });
    sessions.insert(&session);
    try {
      co_await live(session);
    } catch (const std::exception& error) {
      log::error("a session failed",
                 {{"session", session.claimant.id.text}, {"error", error.what()}});
      refuse(session, "failed", "internal error; try again", 5, CloseCode::failed);
    }
    co_await end_lease(session);
    sessions.erase(&session);
    socket->on_activity({});
    session_over.ring();
  }
  socket->close(CloseCode::normal, "");
  co_await socket->finished();
  co_return std::nullopt;
}

void Gateway::State::refuse(LiveSession& session, std::string_view code, std::string_view message,
                            std::optional<double> retry_after_s, CloseCode close) {
  session.client.offer(error_frame(code, message, retry_after_s));
  session.client.close(close, std::string(code));
}

asio::awaitable<void> Gateway::State::live(LiveSession& session) {
  // g++ 12 makes a trap of two conditions with co_await that both return.
  Step step = co_await receive_start(session);
  if (step == Step::on) step = co_await obtain(session);
  if (step == Step::on) co_await relay(session);
}

asio::awaitable<Step> Gateway::State::receive_start(LiveSession& session) {
  const auto until = Clock::now() + options.start_within;
  for (;;) {
    if (const std::optional<Frame> frame = session.client.poll()) {
      if (const auto refusal = frame->text ? start_too_long(frame->bytes) : std::nullopt) {
        session.client.offer(*refusal);
        session.client.close(CloseCode::refused, "invalid");
        co_return Step::over;
      }
      if (frame->text && type_of(frame->bytes) == "session.start") {
        session.start = frame->bytes;
        co_return Step::on;
      }
      refuse(session, "usage", "the first frame is session.start, a JSON object", {},
             CloseCode::refused);
      co_return Step::over;
    }
    if (!session.client.open()) co_return Step::over;
    if (stopping || Clock::now() >= until) {
      refuse(session, "usage", "no session.start came in time", {}, CloseCode::refused);
      co_return Step::over;
    }
    co_await session.signal.wait(until);
  }
}

// What the store must still hear of this session: work for a thread that may block; none when it
// has heard all.
std::function<void()> Gateway::State::owed(const LiveSession& session) {
  if (session.lease) {
    return [this, lease = *session.lease, lost = session.worker_lost] {
      if (lost.empty()) {
        allocator.release(lease);
      } else {
        allocator.worker_lost(lease, lost);
      }
    };
  }
  if (session.start.empty() || session.relaying) return {};
  return [this, waiter = session.claimant.id] { allocator.leave(waiter); };
}

// Tries for as long as the lease would last: one that nobody gives back costs everybody. Throws
// nothing, so that whoever has coroutines to wait for can call it before.
asio::awaitable<void> Gateway::State::end_lease(LiveSession& session) {
  const auto until = Clock::now() + allocator.options().lease;
  for (bool told = false;; told = true) {
    const std::function<void()> work = owed(session);
    if (!work) co_return;
    std::string problem;
    try {
      co_await on_store(work);
      session.lease.reset();
      co_return;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (Clock::now() >= until) {
      log::warn("a lease is left to run out", {{"error", problem}});
      co_return;
    }
    if (!told) log::warn("a slot is given back when the store answers", {{"error", problem}});
    co_await session.signal.wait(Clock::now() + k_try_again);
  }
}

}  // namespace navtalk::server
