// The pulse of work without steps, with readings of the test's own.
#include "cmd/job/work_pulse.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/guarded.h"

using namespace navtalk;
using namespace navtalk::cmd;
using namespace std::chrono_literals;

namespace {

// Each look reads the next one; the last one stays.
class Readings {
 public:
  explicit Readings(std::vector<WorkReadings> all) : all_(std::move(all)) {}

  WorkPulse::Options options() {
    return {.read = [this] { return next(); },
            .tell = [this] { looks_.with([](Looks& looks) { looks.told.push_back(looks.read); }); },
            .look_every = 1ms};
  }
  std::size_t read() const {
    return looks_.with([](const Looks& looks) { return looks.read; });
  }
  // By the number of the look, from 1.
  std::vector<std::size_t> told() const {
    return looks_.with([](const Looks& looks) { return looks.told; });
  }
  bool reaches(std::size_t look) const {
    for (const auto until = std::chrono::steady_clock::now() + 20s;
         read() < look && std::chrono::steady_clock::now() < until;) {
      std::this_thread::sleep_for(1ms);
    }
    return read() >= look;
  }

 private:
  struct Looks {
    std::size_t read = 0;
    std::vector<std::size_t> told{};
  };
  WorkReadings next() {
    return looks_.with(
        [this](Looks& looks) { return all_.at(std::min(looks.read++, all_.size() - 1)); });
  }

  const std::vector<WorkReadings> all_;
  Guarded<Looks> looks_{};
};

std::vector<WorkReadings> always_more() {
  std::vector<WorkReadings> all;
  for (int i = 0; i < 100'000; ++i) all.push_back({.used = i * 5ms});
  return all;
}

}  // namespace

TEST_CASE("work is told of while it gets on, and not while it stands still") {
  Readings readings({{.used = 100ms},
                     {.used = 100ms},
                     {.used = 105ms},
                     {.used = 105'500us},
                     {.used = 105'500us, .queued = 5ms},
                     {.used = 105'500us, .queued = 5ms, .bytes = 1000},
                     {.used = 105'500us, .queued = 5ms, .bytes = 1000, .faults = 1}});
  WorkPulse pulse(readings.options());
  pulse.begin();
  REQUIRE(readings.reaches(20));
  CHECK(readings.told() == std::vector<std::size_t>{3, 5, 6, 7});
}

TEST_CASE("work that has not begun, or that tells its steps itself, is not looked at") {
  Readings readings(always_more());
  WorkPulse pulse(readings.options());
  std::this_thread::sleep_for(20ms);
  CHECK(readings.read() == 0);
  pulse.begin();
  REQUIRE(readings.reaches(5));
  pulse.rest();
  const std::size_t read = readings.read();
  std::this_thread::sleep_for(50ms);
  CHECK(readings.read() <= read + 1);
  pulse.begin();
  CHECK(readings.reaches(read + 5));
}

TEST_CASE("work without a step is not told of for ever, however busy it is") {
  Readings readings(always_more());
  WorkPulse::Options options = readings.options();
  options.at_most = 0s;
  WorkPulse pulse(std::move(options));
  pulse.begin();
  REQUIRE(readings.reaches(10));
  CHECK(readings.told().empty());
}

TEST_CASE("a pulse that nobody hears any more ends, and the work goes on") {
  Readings readings(always_more());
  WorkPulse::Options options = readings.options();
  options.tell = [] { throw Error(Code::failed, "cannot write to standard output"); };
  WorkPulse pulse(std::move(options));
  pulse.begin();
  REQUIRE(readings.reaches(2));
  std::this_thread::sleep_for(50ms);
  CHECK(readings.read() == 2);
  pulse.rest();
}
