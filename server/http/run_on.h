// Blocking work off the I/O thread: `co_await run_on(executor, work)` runs `work` there and resumes
// here with its result or its exception.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <type_traits>
#include <utility>

namespace navtalk::server {

template <class Executor, class Work>
boost::asio::awaitable<std::invoke_result_t<Work&>> run_on(Executor executor, Work work) {
  using Result = std::invoke_result_t<Work&>;
  auto there = [held = std::move(work)]() mutable -> boost::asio::awaitable<Result> {
    co_return held();
  };
  co_return co_await boost::asio::co_spawn(executor, std::move(there), boost::asio::use_awaitable);
}

}  // namespace navtalk::server
