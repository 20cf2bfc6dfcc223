#include "server/gateway/jobs/run_leave.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <memory>
#include <utility>

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// Outlives the run where that did not wait for its end.
struct Call {
  Signal* changed = nullptr;  // nullptr: nobody waits any more
  bool over = false;
  std::exception_ptr problem{};
};

}  // namespace

void RunLeave::yield_by(Clock::time_point time) {
  yield_by_ = std::min(yield_by_.value_or(time), time);
  changed_.notify();
}

void RunLeave::stop(std::string why) {
  stop_ = std::move(why);
  changed_.notify();
}

void RunLeave::lose_lease() {
  lost_ = true;
  changed_.notify();
}

bool RunLeave::give_way() {
  if (places_ == nullptr || *places_ == 0) return false;
  --*places_;
  return gave_way_ = true;
}

bool RunLeave::due() const {
  return lost_ || stopped() || slot_lost() || (yield_by_ && Clock::now() >= *yield_by_);
}

std::string RunLeave::why() const {
  if (stopped()) return stop_;
  return slot_lost() ? "the slot was lost" : "users want the GPU";
}

asio::awaitable<void> RunLeave::wait(Clock::time_point until) {
  co_await changed_.wait(std::min(until, yield_by_.value_or(until)));
}

asio::awaitable<bool> RunLeave::call(BlockingThreads& threads, const Work& work) {
  const auto executor = co_await asio::this_coro::executor;
  const auto call = std::make_shared<Call>(Call{.changed = &changed_});
  std::stop_source left;
  threads.post([executor, call, work, stop = left.get_token()] {
    try {
      work(stop);
    } catch (...) {
      call->problem = std::current_exception();
    }
    asio::post(executor, [call] {
      call->over = true;
      if (call->changed != nullptr) call->changed->notify();
    });
  });
  while (!call->over && !due()) co_await wait();
  call->changed = nullptr;
  if (!call->over) left.request_stop();
  if (call->over && call->problem) std::rethrow_exception(call->problem);
  co_return call->over;
}

}  // namespace navtalk::server
