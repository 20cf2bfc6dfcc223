#include "server/gateway/jobs/run_record.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <utility>

#include "core/log/log.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration k_pause = 1s;

}  // namespace

RunRecord::RunRecord(JobStore& store, BlockingThreads& threads, JobLease lease, Duration patience)
    : store_(store), threads_(threads), lease_(std::move(lease)), patience_(patience) {}

template <class Work>
auto RunRecord::recorded(const Work& work) const -> Awaitable<decltype(work())> {
  const auto until = Clock::now() + patience_;
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (;;) {
    try {
      co_return co_await threads_.run(work);
    } catch (const Error& error) {
      if (error.code() != Code::failed) throw;
      if (Clock::now() >= until) throw StoreFault(error.code(), error.message());
      log::warn("a job's state cannot be recorded now", {{"error", error.message()}});
    }
    pause.expires_after(std::min(k_pause, patience_));
    co_await pause.async_wait(k_tuple);
  }
}

asio::awaitable<std::vector<JobSegment>> RunRecord::segments() const {
  auto work = [&] { return store_.segments(lease_.job); };
  co_return co_await recorded(work);
}

asio::awaitable<bool> RunRecord::renew() const {
  auto work = [&] { return store_.renew(lease_, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<bool> RunRecord::measure(VideoMinutes length) const {
  auto work = [&] { return store_.measure(lease_, length); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::finish_segment(const JobSegment& segment) const {
  auto work = [&] { return store_.finish_segment(lease_, segment, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::intend(const std::string& result) const {
  auto work = [&] { return store_.intend(lease_, result, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::finish(const std::string& result) const {
  auto work = [&] { return store_.finish(lease_, result, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::refuse(const std::string& why) const {
  auto work = [&] { return store_.refuse(lease_, why, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::fail(const std::string& why) const {
  auto work = [&] { return store_.fail(lease_, why, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::yield(const std::string& why) const {
  auto work = [&] { return store_.yield(lease_, why, store_.now()); };
  co_return co_await recorded(work);
}

asio::awaitable<Recorded> RunRecord::yield_for_later(const std::string& why, int time) const {
  const Duration pause = retry_delay(store_.rules(), time);
  auto work = [&] { return store_.yield_for_later(lease_, why, store_.now(), pause); };
  co_return co_await recorded(work);
}

}  // namespace navtalk::server
