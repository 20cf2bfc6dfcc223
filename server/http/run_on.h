// Blocking work off the I/O thread: `co_await run_on(executor, work)` runs `work` there and resumes
// here with its result or its exception. The result comes at once, whatever else is queued there.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace navtalk::server {

// Not asio's co_spawn(): its results pass through the queue of that executor a second time, behind
// all calls that came meanwhile.
template <class Executor, class Work>
boost::asio::awaitable<void> finish_on(Executor executor, Work& work) {
  namespace asio = boost::asio;
  // What `work` refers to lives in a coroutine that the handler owns.
  auto begin = [&work, executor](auto handler) {
    auto back = asio::make_work_guard(asio::get_associated_executor(handler));
    asio::post(executor, [&work, handler = std::move(handler), back = std::move(back)]() mutable {
      work();
      asio::post(back.get_executor(), std::move(handler));
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(begin),
                                                                       asio::use_awaitable);
}

template <class Executor, class Work>
boost::asio::awaitable<std::invoke_result_t<Work&>> run_on(Executor executor, Work work) {
  using Result = std::invoke_result_t<Work&>;
  constexpr bool k_void = std::is_void_v<Result>;
  std::optional<std::conditional_t<k_void, bool, Result>> result;
  std::exception_ptr problem;
  const auto guarded = [&] {
    try {
      if constexpr (k_void) {
        work();
      } else {
        result.emplace(work());
      }
    } catch (...) {
      problem = std::current_exception();
    }
  };
  co_await finish_on(executor, guarded);
  if (problem) std::rethrow_exception(problem);
  if constexpr (!k_void) co_return std::move(*result);
}

}  // namespace navtalk::server
