#include "server/worker/job/renderer_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/base/unique_fd.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

TEST_CASE("an order does not wait for a renderer that reads nothing") {
  boost::asio::io_context io;
  BlockingThreads reapers(1);
  RendererProcess renderer(io.get_executor(), reapers, {"/bin/sleep", "60"});
  const auto ordered = std::async(std::launch::async,
                                  [&] { renderer.order(std::string(std::size_t{4} << 20, 'x')); });
  const std::future_status status = ordered.wait_for(40s);
  renderer.end("so that an order that waits goes on");
  CHECK(status == std::future_status::ready);
}

TEST_CASE("a renderer reads every order, one after another") {
  constexpr int k_orders = 400;
  boost::asio::io_context io;
  BlockingThreads reapers(1);
  RendererProcess renderer(io.get_executor(), reapers, {"/bin/cat"});
  const std::string long_text(4096, 'x');
  for (int i = 0; i < k_orders; ++i) renderer.order(std::to_string(i) + long_text + "\n");
  int read = 0;
  std::string line;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       read < k_orders && std::chrono::steady_clock::now() < until; io.run_one_for(100ms)) {
    while (renderer.poll(line)) {
      REQUIRE(line == std::to_string(read) + long_text);
      ++read;
    }
  }
  CHECK(read == k_orders);
}

TEST_CASE("a renderer has no descriptors but its own, so that what the worker closes is closed") {
  constexpr int k_high = 200;  // above what the child opens itself
  const UniqueFd inherited(::fcntl(STDERR_FILENO, F_DUPFD, k_high));
  REQUIRE(inherited.value() >= k_high);
  boost::asio::io_context io;
  BlockingThreads reapers(1);
  RendererProcess renderer(io.get_executor(), reapers,
                           {"/bin/sh", "-c", "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done"});
  std::set<std::string> open;
  std::string line;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !renderer.ended() && std::chrono::steady_clock::now() < until; io.run_one_for(100ms)) {
    while (renderer.poll(line)) open.insert(line);
  }
  CHECK(renderer.ended());
  CHECK(open.contains("1"));
  CHECK_FALSE(open.contains(std::to_string(inherited.value())));
}

TEST_CASE("a program that a renderer runs ends with it") {
  boost::asio::io_context io;
  BlockingThreads reapers(1);
  // The program holds the renderer's output open for as long as it runs.
  RendererProcess renderer(io.get_executor(), reapers,
                           {"/bin/sh", "-c", "sleep 600 & echo $!; wait"});
  const auto until = std::chrono::steady_clock::now() + 30s;
  std::string program;
  while (!renderer.poll(program) && std::chrono::steady_clock::now() < until) io.run_one_for(100ms);
  REQUIRE_FALSE(program.empty());
  renderer.end("its job is over");
  while (!renderer.ended() && std::chrono::steady_clock::now() < until) io.run_one_for(100ms);
  CHECK(renderer.ended());
  if (!renderer.ended()) ::kill(std::stoi(program), SIGKILL);
}

TEST_CASE("nobody waits for a renderer that ends, and the device's memory is free afterwards") {
  boost::asio::io_context io;
  MemoryBudget budget;
  std::latch dead(1);
  {
    BlockingThreads reapers(1);
    reapers.post([&] { dead.wait(); });
    auto renderer = std::make_unique<RendererProcess>(io.get_executor(), reapers,
                                                      std::vector<std::string>{"/bin/sleep", "60"});
    renderer->hold(*budget.reserve(MemoryUser::jobs, 100));
    renderer.reset();
    CHECK(budget.ledger().of(MemoryUser::jobs) == 100);
    dead.count_down();
  }
  CHECK(budget.ledger().of(MemoryUser::jobs) == 0);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}
