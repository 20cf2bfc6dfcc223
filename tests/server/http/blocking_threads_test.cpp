#include "server/http/blocking_threads.h"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "server/http/io_loop.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

struct Scene {
  IoLoop io{};
  CoroutineScope coroutines{io};
  BlockingThreads threads{1};

  void run(asio::awaitable<void> test) {
    asio::co_spawn(io, std::move(test), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    io.run();
  }
};

asio::awaitable<void> ask_for_results(BlockingThreads& threads) {
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  const auto work = [&] {
    there = std::this_thread::get_id();
    return std::make_unique<int>(7);
  };
  const std::unique_ptr<int> seven = co_await threads.run(work);
  CHECK(*seven == 7);
  CHECK(there != here);
  CHECK(std::this_thread::get_id() == here);
  std::string message;
  try {
    co_await threads.run([] { throw Error(Code::failed, "no"); });
  } catch (const Error& error) {
    message = error.message();
  }
  CHECK(message == "no");
}

// The second call, which is queued before the first one ends, ends when the first is answered.
asio::awaitable<void> ask_before_another(BlockingThreads& threads) {
  std::promise<void> answered;
  std::promise<bool> second;
  const auto wait_for_first = [&] {
    second.set_value(answered.get_future().wait_for(20s) == std::future_status::ready);
  };
  const auto first = [&] { threads.post(wait_for_first); };
  co_await threads.run(first);
  answered.set_value();
  CHECK(second.get_future().get());
}

}  // namespace

TEST_CASE("a call on another thread gives its result, or its exception, to the thread that waits") {
  Scene scene;
  scene.run(ask_for_results(scene.threads));
}

TEST_CASE("an answer does not wait for the calls that are queued behind its own") {
  Scene scene;
  scene.run(ask_before_another(scene.threads));
}
