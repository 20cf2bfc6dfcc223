#include "scheduler/provision/executor/row_workers.h"

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <thread>

using namespace navtalk;

namespace {

constexpr Duration k_long = std::chrono::seconds(20);

Gpu row(const std::string& id) { return {.id = {id}}; }

}  // namespace

TEST_CASE("a row is under way on one thread at a time, others beside it") {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> done{0};
  RowWorkers workers(4, 8, [&] {
    return [&](const Gpu& gpu, const std::stop_token&) {
      if (gpu.id.text == "a") released.wait();
      ++done;
    };
  });
  REQUIRE(workers.start(row("a")));
  CHECK(!workers.start(row("a")));
  CHECK(workers.under_way({"a"}));
  REQUIRE(workers.start(row("b")));
  while (workers.under_way({"b"})) std::this_thread::yield();
  CHECK(done == 1);
  CHECK(!workers.wait_idle(Duration(1), {}));
  release.set_value();
  CHECK(workers.wait_idle(k_long, {}));
  CHECK(workers.start(row("a")));
  CHECK(workers.wait_idle(k_long, {}));
  CHECK(done == 3);
}

TEST_CASE("a thread starts when a row needs it, and serves the next ones") {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> threads{0};
  RowWorkers workers(2, 8, [&] {
    ++threads;
    return [&](const Gpu& gpu, const std::stop_token&) {
      if (gpu.id.text != "a") released.wait();
    };
  });
  CHECK(threads == 0);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(workers.start(row("a")));
    REQUIRE(workers.wait_idle(k_long, {}));
    CHECK(threads == 1);
  }
  for (const char* id : {"b", "c", "d"}) REQUIRE(workers.start(row(id)));
  // The second thread begins on its own time; it is there before a row ends.
  const auto until = std::chrono::steady_clock::now() + k_long;
  while (threads < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  CHECK(threads == 2);
  release.set_value();
  REQUIRE(workers.wait_idle(k_long, {}));
  CHECK(threads == 2);
}

TEST_CASE("more threads come for rows that wait, and end when none waits") {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> begun{0};
  const auto threads = std::make_shared<bool>();  // each holds it
  RowWorkers workers(1, 8, [&] {
    return [&begun, &released, threads](const Gpu&, const std::stop_token&) {
      ++begun;
      released.wait();
    };
  });
  const long own = threads.use_count();
  const auto comes = [](const auto& so) {
    const auto until = std::chrono::steady_clock::now() + k_long;
    while (!so() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return so();
  };
  for (const char* id : {"a", "b", "c", "d", "e"}) REQUIRE(workers.start(row(id)));
  REQUIRE(comes([&] { return begun == 1; }));
  workers.widen(2, 8);
  CHECK(comes([&] { return begun == 3; }));
  workers.widen(8, 4);
  CHECK(comes([&] { return begun == 4; }));
  release.set_value();
  REQUIRE(workers.wait_idle(k_long, {}));
  CHECK(begun == 5);
  CHECK(comes([&] { return threads.use_count() == own + 1; }));
  CHECK(workers.start(row("f")));
  CHECK(workers.wait_idle(k_long, {}));
}

TEST_CASE("a full queue takes no row, and forgets none") {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> begun{0};
  RowWorkers workers(1, 1, [&] {
    return [&](const Gpu&, const std::stop_token&) {
      ++begun;
      released.wait();
    };
  });
  REQUIRE(workers.start(row("a")));
  while (begun == 0) std::this_thread::yield();
  REQUIRE(workers.start(row("b")));  // waits for the thread
  CHECK(!workers.start(row("c")));
  CHECK(!workers.under_way({"c"}));
  release.set_value();
  CHECK(workers.wait_idle(k_long, {}));
  CHECK(begun == 2);
}

TEST_CASE("the end of the workers stops what is under way") {
  std::atomic<bool> begun{false}, stopped{false};
  {
    RowWorkers workers(1, 1, [&] {
      return [&](const Gpu&, const std::stop_token& stop) {
        begun = true;
        while (!stop.stop_requested()) std::this_thread::yield();
        stopped = true;
      };
    });
    REQUIRE(workers.start(row("a")));
    while (!begun) std::this_thread::yield();
  }
  CHECK(stopped);
}
