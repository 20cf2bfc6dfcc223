#include "core/process/work_readings.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <latch>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/check.h"
#include "core/process/run.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

// A thread with a meter of its own, which does `work` again and again until the end.
class MeteredThread {
 public:
  explicit MeteredThread(std::function<void(const std::stop_token&)> work) {
    thread_ = std::jthread([this, work = std::move(work)](const std::stop_token& stop) {
      meter_.set_value(WorkMeter());
      while (!stop.stop_requested()) work(stop);
    });
    made_.emplace(meter_.get_future().get());
    first_ = read();
  }
  WorkReadings read() const { return made_->read(); }
  // Since it was made.
  template <class What>
  bool eventually(const What& what) const {
    for (const auto until = std::chrono::steady_clock::now() + 20s;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
      if (what(first_, read())) return true;
    }
    return false;
  }

 private:
  std::promise<WorkMeter> meter_{};
  std::optional<WorkMeter> made_{};
  WorkReadings first_{};
  std::jthread thread_{};
};

void compute() {
  for (std::atomic<int> i = 0; i < 1000; ++i) {
  }
}

// On a thread that is not the test's: without assertions of Catch, which are not thread-safe.
void stay_on_the_first_core() {
  cpu_set_t allowed, first;
  NAVTALK_CHECK(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  CPU_ZERO(&first);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  CPU_SET(core, &first);
  NAVTALK_CHECK(::pthread_setaffinity_np(::pthread_self(), sizeof first, &first) == 0);
}

}  // namespace

TEST_CASE("work gets on with processor time, with time in the queue for it, and with bytes") {
  const WorkReadings before{.used = 5s, .queued = 7s, .bytes = 100, .faults = 3};
  const auto after = [&](const std::function<void(WorkReadings&)>& change) {
    WorkReadings now = before;
    change(now);
    return got_on(before, now);
  };
  CHECK_FALSE(got_on(before, before));
  CHECK(after([](WorkReadings& now) { now.used += 1ms; }));
  CHECK_FALSE(after([](WorkReadings& now) { now.used += 999us; }));
  CHECK(after([](WorkReadings& now) { now.queued += 1ms; }));
  CHECK_FALSE(after([](WorkReadings& now) { now.queued += 999us; }));
  CHECK(after([](WorkReadings& now) { now.bytes += 512; }));
  CHECK_FALSE(after([](WorkReadings& now) { now.bytes += 511; }));
  CHECK(after([](WorkReadings& now) { ++now.faults; }));
  CHECK(after([](WorkReadings& now) { now.used -= 2s; }));  // of a program that has ended
}

TEST_CASE("a thread that computes uses the processor, and one that waits does not") {
  std::latch over(1);
  SECTION("computes") {
    const MeteredThread busy([](const std::stop_token&) { compute(); });
    CHECK(busy.eventually([](const WorkReadings& first, const WorkReadings& now) {
      return now.used - first.used >= 5ms;
    }));
  }
  SECTION("waits") {
    const MeteredThread waits([&](const std::stop_token&) { over.wait(); });
    // It comes to that first.
    WorkReadings before = waits.read();
    CHECK(waits.eventually([&](const WorkReadings&, const WorkReadings&) {
      std::this_thread::sleep_for(50ms);
      const WorkReadings now = waits.read();
      return !got_on(std::exchange(before, now), now);
    }));
    over.count_down();
  }
}

TEST_CASE("a thread without a core of its own is queued") {
  const MeteredThread slow([pinned = false](const std::stop_token&) mutable {
    if (!std::exchange(pinned, true)) stay_on_the_first_core();
    compute();
  });
  const std::jthread other([](const std::stop_token& stop) {
    stay_on_the_first_core();
    while (!stop.stop_requested()) compute();
  });
  CHECK(slow.eventually([](const WorkReadings& first, const WorkReadings& now) {
    return now.queued - first.queued >= 5ms;
  }));
}

TEST_CASE("what other threads read is counted, and what the meter itself reads is not") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "model";
  std::ofstream(file) << std::string(1000, 'x');
  std::latch go(1), over(1), has_read(1);
  const MeteredThread reads([&, done = false](const std::stop_token&) mutable {
    if (std::exchange(done, true)) return over.wait();
    go.wait();
    std::string content;
    std::ifstream(file) >> content;
    has_read.count_down();
  });
  const WorkReadings before = reads.read();
  for (int i = 0; i < 100; ++i) CHECK(reads.read().bytes < before.bytes + 500);
  go.count_down();
  has_read.wait();
  CHECK(reads.read().bytes >= before.bytes + 1000);
  over.count_down();
}

TEST_CASE("a program that a thread waits for counts as its work") {
  const MeteredThread waits([](const std::stop_token& stop) {
    try {
      run_program({.command = {"/bin/sh", "-c", "while :; do :; done"}}, stop);
    } catch (const std::exception&) {  // it was killed at the end
    }
  });
  CHECK(waits.eventually([](const WorkReadings& first, const WorkReadings& now) {
    return now.used - first.used >= 20ms;
  }));
}
