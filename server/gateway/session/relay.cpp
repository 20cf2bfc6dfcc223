#include "server/gateway/session/relay.h"

#include <boost/asio/co_spawn.hpp>

#include "core/log/log.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

void log_problem(const std::exception_ptr& problem) {
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    log::error("relaying failed", {{"error", error.what()}});
  }
}

}  // namespace

Relay::Relay(WebSocket& client, WebSocket& worker, SessionCounters& counters, Signal& changed)
    : client_(client), worker_(worker), counters_(counters), changed_(changed) {}

asio::awaitable<void> Relay::to_worker() {
  while (std::optional<Frame> frame = co_await client_.receive()) {
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
void Relay::start(const asio::any_io_executor& executor) {
  const auto ended = [this](const std::exception_ptr& problem) {
    log_problem(problem);
    --running_;
    changed_.notify();
  };
  asio::co_spawn(executor, to_worker(), [this, ended](const std::exception_ptr& problem) {
    if (problem) client_ended_ = true;  // no evidence against the worker
    ended(problem);
  });
  ++running_;
  asio::co_spawn(executor, to_client(), ended);
  ++running_;
}

void Relay::close() {
  worker_.close(CloseCode::normal, "");
  client_.close(CloseCode::normal, "");
}

asio::awaitable<void> Relay::finished() {
  while (running_ > 0) co_await changed_.wait();
}

}  // namespace navtalk::server
