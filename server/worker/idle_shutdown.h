// Ends a worker that no gateway has asked for a while, because it would go on costing money and memory.
// Used on the I/O thread only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace navtalk::server {

struct IdleShutdownOptions {
  std::chrono::milliseconds gateway_timeout{0};      // 0: never
  std::chrono::milliseconds first_contact{900'000};  // from the start, before any contact
};

class IdleShutdown {
 public:
  IdleShutdown(const boost::asio::any_io_executor& executor, IdleShutdownOptions options);

  // A gateway has spoken to the worker.
  void note_contact();
  // True once no gateway has spoken to the worker for too long; false after stop(). While
  // `has_sessions` there is a gateway: one that answers pings.
  boost::asio::awaitable<bool> expired(std::function<bool()> has_sessions);
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  const IdleShutdownOptions options_;
  const Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> last_contact_{};
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
};

}  // namespace navtalk::server
