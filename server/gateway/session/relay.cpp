#include "server/gateway/session/relay.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "core/log/log.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// Until a client that waits for its turn is looked at: it may be gone.
constexpr Signal::Clock::duration k_longest_pause = std::chrono::milliseconds(250);

void log_problem(const std::exception_ptr& problem) {
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    log::error("relaying failed", {{"error", error.what()}});
  }
}

}  // namespace

Relay::Relay(WebSocket& client, WebSocket& worker, const Parts& parts)
    : executor_(parts.executor),
      client_(client),
      worker_(worker),
      counters_(parts.counters),
      changed_(parts.changed),
      control_frames_(parts.control_frames, Signal::Clock::now()),
      seat_(parts.seat),
      closing_(executor_) {}

Signal::Clock::duration Relay::pause_before(const Frame& frame) {
  const auto now = Signal::Clock::now();
  Signal::Clock::duration pause{};
  if (frame.text) pause = control_frames_.time_to(1, now);
  TokenBucket* const messages = seat_ == nullptr ? nullptr : seat_->messages();
  if (messages == nullptr || messages->time_to(1, now) == Signal::Clock::duration{}) return pause;
  if (!std::exchange(told_limit_, true)) {
    client_.offer(error_frame("tenant_limit",
                              "the clients of this tenant send more messages than it may; further "
                              "ones wait"));
  }
  return std::max(pause, messages->time_to(1, now));
}

void Relay::take_turn(const Frame& frame) {
  const auto now = Signal::Clock::now();
  if (frame.text) control_frames_.take(1, now);
  TokenBucket* const messages = seat_ == nullptr ? nullptr : seat_->messages();
  if (messages != nullptr) messages->take(1, now);
}

asio::awaitable<bool> Relay::has_turn(const Frame& frame) {
  for (;;) {
    const auto pause = pause_before(frame);
    if (pause == Signal::Clock::duration{}) break;
    if (closed_ || !client_.open()) co_return false;
    co_await closing_.wait(Signal::Clock::now() + std::min(pause, k_longest_pause));
  }
  take_turn(frame);
  co_return true;
}

asio::awaitable<void> Relay::to_worker() {
  while (std::optional<Frame> frame = co_await client_.receive()) {
    if (!co_await has_turn(*frame)) break;
    // What the first one was allowed, another one is not.
    if (frame->text && type_of(frame->bytes) == frame_type::start) {
      client_.offer(error_frame("usage", "a session has one session.start"));
      continue;
    }
    counters_.bytes_to_worker += frame->bytes.size();
    if (!co_await worker_.send(std::move(*frame))) co_return;
  }
  client_ended_ = true;
}

asio::awaitable<void> Relay::to_client() {
  while (std::optional<Frame> frame = co_await worker_.receive()) {
    counters_.bytes_to_client += frame->bytes.size();
    if (!co_await client_.send(std::move(*frame))) break;
  }
}

// A spawned direction runs when this coroutine next waits, not before.
void Relay::start() {
  const auto ended = [this](const std::exception_ptr& problem) {
    log_problem(problem);
    --running_;
    changed_.notify();
  };
  asio::co_spawn(executor_, to_worker(), [this, ended](const std::exception_ptr& problem) {
    if (problem) client_ended_ = true;  // no evidence against the worker
    ended(problem);
  });
  ++running_;
  asio::co_spawn(executor_, to_client(), ended);
  ++running_;
}

void Relay::close() {
  closed_ = true;
  closing_.notify();
  worker_.close(CloseCode::normal, "");
  client_.close(CloseCode::normal, "");
}

asio::awaitable<void> Relay::finished() {
  while (running_ > 0) co_await changed_.wait();
}

}  // namespace navtalk::server
