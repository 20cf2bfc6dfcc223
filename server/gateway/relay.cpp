// A session with its worker: frames both ways, as they come, until one side ends it.
#include <boost/asio/detached.hpp>

#include "core/log/log.h"
#include "server/gateway/gateway_state.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// The two directions. Their coroutines refer to it and to the session: neither may go before
// `running` is 0.
struct Pumps {
  int running = 0;
  bool client_ended = false, worker_ended = false;
};

void log_problem(const std::exception_ptr& problem) {
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    log::error("relaying failed", {{"error", error.what()}});
  }
}

}  // namespace

asio::awaitable<void> Gateway::State::to_worker(LiveSession& session) {
  while (std::optional<Frame> frame = co_await session.client.receive()) {
    counts.bytes_to_worker += frame->bytes.size();
    if (!co_await session.worker->send(std::move(*frame))) break;
  }
}

asio::awaitable<void> Gateway::State::to_client(LiveSession& session) {
  while (std::optional<Frame> frame = co_await session.worker->receive()) {
    counts.bytes_to_client += frame->bytes.size();
    if (!co_await session.client.send(std::move(*frame))) break;
  }
}

// Meanwhile: it never delays the user.
void Gateway::State::prepare_next_gpu(const Lease& lease) {
  asio::co_spawn(
      threads,
      [this, lease]() -> asio::awaitable<void> {
        try {
          allocator.connected(lease);
        } catch (const std::exception& error) {
          log::warn("the next GPU could not be prepared", {{"error", error.what()}});
        }
        co_return;
      },
      asio::detached);
}

// To the client; what the store hears of it is settled in end_lease().
void Gateway::State::tell_end(LiveSession& session, bool client_ended) {
  if (session.lease_lost) {
    ++counts.lease_lost;
    refuse(session, "lease_lost", "the pool gave this slot to others", 1, CloseCode::failed);
    return;
  }
  if (client_ended || !session.client.open()) return;
  const auto farewell = session.worker->peer_close();
  if (farewell && farewell->first != static_cast<std::uint16_t>(CloseCode::failed)) {
    session.client.close(static_cast<CloseCode>(farewell->first), farewell->second);
    return;
  }
  ++counts.worker_lost;
  session.worker_lost = "its worker was lost in a session";
  refuse(session, "worker_lost", "the GPU of this session was lost; start again", 1,
         CloseCode::failed);
}

// Both directions at once, each with its own bounded queues: a side that does not read holds up
// only what is meant for it.
asio::awaitable<void> Gateway::State::relay(LiveSession& session) {
  session.relaying = true;
  session.client.on_activity({});
  session.worker->on_activity({});
  Pumps pumps;
  const auto start = [&](asio::awaitable<void> pump, bool& ended) {
    const auto over = [&pumps, &ended, &session](const std::exception_ptr& failed) {
      log_problem(failed);
      ended = true;
      --pumps.running;
      session.signal.ring();
    };
    asio::co_spawn(io, std::move(pump), over);
    ++pumps.running;  // it runs when this coroutine next waits, not before
  };
  std::exception_ptr problem;
  try {
    prepare_next_gpu(*session.lease);
    start(to_worker(session), pumps.client_ended);
    start(to_client(session), pumps.worker_ended);
    while (pumps.running == 2 && !session.lease_lost) co_await session.signal.wait();
    tell_end(session, pumps.client_ended);
  } catch (...) {
    problem = std::current_exception();
  }
  // Whatever happened, the pumps end before what they refer to; and the slot is free for others
  // before the last frames are gone.
  session.worker->close(CloseCode::normal, "");
  session.client.close(CloseCode::normal, "");
  co_await end_lease(session);
  while (pumps.running > 0) co_await session.signal.wait();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace navtalk::server
