// Wakes a coroutine of the same I/O thread: notify() wakes the one that waits, or lets the next
// wait() return at once. Several notifications before a wait() count as one.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace navtalk::server {

class Signal {
 public:
  using Clock = boost::asio::steady_timer::clock_type;

  explicit Signal(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  void notify() {
    notified_ = true;
    timer_.cancel();
  }
  // Until the next notification, or `until`. Others on the thread have their turn first, even where
  // there was a notification already.
  boost::asio::awaitable<void> wait(Clock::time_point until = Clock::time_point::max()) {
    if (std::exchange(notified_, false)) {
      co_await boost::asio::post(timer_.get_executor(), boost::asio::use_awaitable);
      co_return;
    }
    timer_.expires_at(until);
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    notified_ = false;
  }

 private:
  boost::asio::steady_timer timer_;
  bool notified_ = false;
};

}  // namespace navtalk::server
