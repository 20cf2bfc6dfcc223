// The thread that owns a device's nets. Everything that touches them is run here, one piece after
// the other; between two pieces the loop turns, at least four times a second, and says so. A loop
// that has not turned for seconds is stuck, and the worker says so too.
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

  // `every_turn` runs on the loop's thread.
  explicit WorkLoop(std::function<void()> every_turn = {});
  // Waits for the piece of work that runs; what waits behind it is dropped.
  ~WorkLoop();
  WorkLoop(const WorkLoop&) = delete;
  WorkLoop& operator=(const WorkLoop&) = delete;

  // For run_on(): the place where work on the nets runs.
  boost::asio::io_context::executor_type executor() { return io_.get_executor(); }
  // Long work that makes progress counts as turning. From the loop's thread.
  void turned() { turned_ = Clock::now().time_since_epoch().count(); }
  Clock::duration since_turn() const;

 private:
  void turn();

  std::function<void()> every_turn_;
  boost::asio::io_context io_;
  boost::asio::steady_timer timer_;
  std::atomic<Clock::rep> turned_;
  std::jthread thread_;
};

}  // namespace navtalk::server
