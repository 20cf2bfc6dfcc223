// A bell between coroutines of one I/O thread: ring() wakes the one that waits, or the next one to
// wait. Rings that come together are one.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace navtalk::server {

class Signal {
 public:
  using Clock = boost::asio::steady_timer::clock_type;

  explicit Signal(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  void ring() {
    rung_ = true;
    timer_.cancel();
  }
  // Until the next ring, or `until`.
  boost::asio::awaitable<void> wait(Clock::time_point until = Clock::time_point::max()) {
    if (!rung_) {
      timer_.expires_at(until);
      co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    rung_ = false;
  }

 private:
  boost::asio::steady_timer timer_;
  bool rung_ = false;
};

}  // namespace navtalk::server
