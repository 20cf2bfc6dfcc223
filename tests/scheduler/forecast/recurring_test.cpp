// Which arrivals count as recurring, and which do not.
#include "scheduler/forecast/recurring.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "scheduler/forecast/demand.h"
#include "scheduler/simulator/random.h"
#include "scheduler/simulator/simulator.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_first_hour{std::chrono::hours(500000)};

// A day's ring whose open minute is the first of an hour; one user a minute, and at minute 3 of the
// hours that `burst` names (1: the hour before) so many more.
struct Day {
  std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(24 * 60, 1);

  Day& burst(std::size_t hour, std::uint32_t users) {
    counts[(24 - hour) * 60 + 3] += users;
    return *this;
  }
  MinuteRing ring(std::size_t closed = 24 * 60 - 1) const {
    return {.counts = counts, .open = 0, .closed = closed, .mean = 1};
  }
};

Day bursts(std::size_t hours, std::uint32_t users) {
  Day day;
  for (std::size_t hour = 1; hour <= hours; ++hour) day.burst(hour, users);
  return day;
}

// Twelve users at every full hour, one second apart, and one a minute else.
void come_hourly(DemandEstimator& estimator, int hours) {
  for (int minute = 0; minute < hours * 60; ++minute) {
    const TimePoint at = k_first_hour + minute * 1min;
    for (int i = 0; i < (minute % 60 == 0 ? 12 : 1); ++i) estimator.arrived(at + i * 1s);
  }
}

Trace hourly_jobs(int hours) {
  Random random(3, 1);
  Trace trace;
  for (int hour = 0; hour < hours; ++hour) {
    for (int i = 0; i < 20; ++i) {
      const double at_s = hour * 3600 + i * 0.5, length_s = random.exponential(300);
      trace.push_back({from_seconds(at_s), from_seconds(length_s)});
    }
  }
  return trace;
}

}  // namespace

TEST_CASE("arrivals at one minute of every hour are forecast for that minute alone") {
  const Day day = bursts(23, 10);
  for (std::size_t ahead = 0; ahead < 16; ++ahead) {
    INFO(ahead << " minutes ahead");
    CHECK(recurring_arrivals(day.ring(), ahead).users == Approx(ahead == 3 ? 10 : 0).margin(1e-9));
  }
  CHECK(recurring_arrivals(day.ring(), 3).variance == Approx(1));  // the mean's, at least
}

TEST_CASE("a burst of a few hours, however large, is not forecast, one of many is") {
  CHECK(recurring_arrivals(bursts(1, 500).ring(), 3) == RecurringArrivals{});
  CHECK(recurring_arrivals(bursts(4, 10).ring(), 3) == RecurringArrivals{});
  CHECK(recurring_arrivals(bursts(6, 10).ring(), 3).users > 0);
}

TEST_CASE("of hours that differ, the last ones count if they brought more") {
  Day day = bursts(12, 10);
  CHECK(recurring_arrivals(day.ring(), 3).users == Approx(10));
  day = Day{};
  for (std::size_t hour = 12; hour < 24; ++hour) day.burst(hour, 10);
  CHECK(recurring_arrivals(day.ring(), 3).users == Approx(10 * 12 / 23.0));
  CHECK(recurring_arrivals(day.ring(), 3).variance > 20);
}

TEST_CASE("before six hours are known nothing is forecast, nor for an empty pool") {
  CHECK(recurring_arrivals(bursts(23, 10).ring(5 * 60 + 59), 3) == RecurringArrivals{});
  CHECK(recurring_arrivals(bursts(23, 10).ring(6 * 60), 3).users == Approx(10));
  CHECK(recurring_arrivals({}, 3) == RecurringArrivals{});
}

TEST_CASE("the estimator forecasts the next full hour, and what is still to come of it") {
  DemandEstimator estimator(k_first_hour);
  come_hourly(estimator, 24);
  const Demand before = estimator.demand(k_first_hour + 24h - 30s);
  CHECK(before.minute_left_s == Approx(30));
  for (std::size_t ahead = 0; ahead < before.ahead.size(); ++ahead) {
    INFO(ahead << " minutes ahead");
    CHECK(before.ahead.at(ahead).users == Approx(ahead == 1 ? 10.8 : 0).margin(0.2));
  }
  estimator.arrived(k_first_hour + 24h, 4);
  const Demand within = estimator.demand(k_first_hour + 24h + 1s);
  CHECK(within.ahead[0].users == Approx(10.8 - 4).margin(0.2));
  estimator.arrived(k_first_hour + 24h + 2s, 8);
  CHECK(estimator.demand(k_first_hour + 24h + 2s).ahead[0].users == 0);
}

TEST_CASE("a recurring burst is not expected to continue, another one is") {
  DemandEstimator hourly(k_first_hour), calm(k_first_hour);
  come_hourly(hourly, 24);
  for (int minute = 0; minute < 24 * 60; ++minute) calm.arrived(k_first_hour + minute * 1min);
  for (DemandEstimator* estimator : {&hourly, &calm}) estimator->arrived(k_first_hour + 24h, 12);
  const Demand foreseen = hourly.demand(k_first_hour + 24h + 5s);
  CHECK(foreseen.rate_per_s == foreseen.slow_per_s);
  const Demand surprise = calm.demand(k_first_hour + 24h + 5s);
  CHECK(surprise.rate_per_s > 3 * surprise.slow_per_s);
}

TEST_CASE("after a morning users of hourly jobs find GPUs that were started just before") {
  const Trace trace = hourly_jobs(120);
  const SimulatorResult adaptive =
      simulate(trace, {.kind = Strategy::Kind::adaptive, .knob = 0.1}, {});
  const SimulatorResult buffer = simulate(trace, {.kind = Strategy::Kind::buffer, .knob = 20}, {});
  CHECK(adaptive.p_wait < 0.1);  // the first hours are a twentieth
  CHECK(adaptive.gpu_hours < buffer.gpu_hours / 2);
}
