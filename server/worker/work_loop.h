// The thread that owns a device's nets. Everything that touches them runs here, one piece of work
// after the other. Between two pieces the loop makes a heartbeat, at least four times a second. A
// loop that has made none for seconds is stuck, and the worker's health says so.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <thread>

namespace navtalk::server {

class WorkLoop {
 public:
  using Clock = std::chrono::steady_clock;

  // `on_beat` runs at each of the loop's own heartbeats, on its thread.
  explicit WorkLoop(std::function<void()> on_beat = {});
  // Waits for the piece of work that runs; what waits behind it is dropped.
  ~WorkLoop();
  WorkLoop(const WorkLoop&) = delete;
  WorkLoop& operator=(const WorkLoop&) = delete;

  // For run_on(): where work on the nets runs.
  boost::asio::io_context::executor_type executor() { return io_.get_executor(); }
  // For long work that makes progress: a heartbeat as well. From the loop's thread.
  void heartbeat() { last_beat_ = Clock::now().time_since_epoch().count(); }
  Clock::duration since_heartbeat() const;

 private:
  void beat();

  std::function<void()> on_beat_;
  boost::asio::io_context io_;
  boost::asio::steady_timer timer_;
  std::atomic<Clock::rep> last_beat_;
  std::jthread thread_;
};

}  // namespace navtalk::server
