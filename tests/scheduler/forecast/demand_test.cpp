#include "scheduler/forecast/demand.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "scheduler/scaling/target_window.h"
#include "scheduler/simulator/random.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_start{std::chrono::hours(500000)};

// `per_minute` users come one by one, evenly spaced, for that long.
void come_evenly(DemandEstimator& estimator, TimePoint from, Duration length, int per_minute) {
  const Duration gap = Duration(1min) / per_minute;
  for (TimePoint at = from; at < from + length; at += gap) estimator.arrived(at);
}

Attempt attempt(TimePoint at, Attempt::Result result, Duration took,
                Operation operation = Operation::create, Source source = Source::cloud) {
  return {.at = at, .source = source, .operation = operation, .result = result, .took = took};
}

}  // namespace

TEST_CASE("a constant rate is what both averages come to, and what is expected") {
  DemandEstimator estimator(k_start);
  come_evenly(estimator, k_start, 4h, 6);
  const Demand demand = estimator.demand(k_start + 4h);
  CHECK(demand.fast_per_s == Approx(0.1).epsilon(0.1));
  CHECK(demand.slow_per_s == Approx(0.1).epsilon(0.02));
  CHECK(demand.day_per_s == Approx(0.1).epsilon(0.02));
  CHECK(demand.rate_per_s == Approx(0.1).epsilon(0.02));
  CHECK(demand.last_minute == Approx(6).margin(1));
}

TEST_CASE("a burst raises the expected rate by twice its excess, chance by nothing") {
  DemandEstimator estimator(k_start);
  come_evenly(estimator, k_start, 4h, 6);
  come_evenly(estimator, k_start + 4h, 2min, 60);
  const Demand burst = estimator.demand(k_start + 4h + 2min);
  CHECK(burst.fast_per_s > 0.5);
  CHECK(burst.rate_per_s > burst.fast_per_s);
  DemandEstimator other(k_start);
  come_evenly(other, k_start, 4h, 6);
  other.arrived(k_start + 4h, 3);
  const Demand chance = other.demand(k_start + 4h);
  CHECK(chance.rate_per_s == chance.slow_per_s);
}

TEST_CASE("averages fade when nobody comes") {
  DemandEstimator estimator(k_start);
  come_evenly(estimator, k_start, 1h, 6);
  const double before = estimator.demand(k_start + 1h).fast_per_s;
  const Demand after = estimator.demand(k_start + 1h + 2min);
  CHECK(after.fast_per_s == Approx(before * std::exp(-1.0)));
  CHECK(after.last_minute == 0);
  CHECK(estimator.demand(k_start + 30h).day_per_s == Approx(0).margin(1e-12));
}

TEST_CASE("the dispersion counts the changes between minutes, not those between hours") {
  DemandEstimator estimator(k_start);
  // Two hours of ten a minute, two hours of none, in turn.
  for (int hour = 0; hour < 24; hour += 4) come_evenly(estimator, k_start + hour * 1h, 2h, 10);
  const Demand slow = estimator.demand(k_start + 24h);
  CHECK(slow.dispersion == 1);
  // Ten at once every other minute.
  DemandEstimator batches(k_start);
  for (int minute = 0; minute < 600; minute += 2) batches.arrived(k_start + minute * 1min, 10);
  const Demand uneven = batches.demand(k_start + 600min);
  CHECK(uneven.dispersion == 8);  // at the cap
}

TEST_CASE("what is older than a day is forgotten") {
  DemandEstimator estimator(k_start);
  for (int minute = 0; minute < 600; minute += 2) estimator.arrived(k_start + minute * 1min, 10);
  come_evenly(estimator, k_start + 10h, 24h, 1);
  const Demand demand = estimator.demand(k_start + 34h);
  CHECK(demand.dispersion == 1);
  CHECK(demand.day_per_s == Approx(1.0 / 60).epsilon(0.02));
}

TEST_CASE("a session's length is believed, then learned") {
  DemandEstimator estimator(k_start, {.session = 300s});
  CHECK(estimator.demand(k_start).session_s == Approx(300));
  estimator.ended(k_start + 1h, 95, 95 * 100.0);
  CHECK(estimator.demand(k_start + 1h).session_s == Approx((95 * 100.0 + 5 * 300) / 100));
}

TEST_CASE("lead times and success rates are learned for each source and operation") {
  DemandEstimator estimator(k_start);
  const Demand before = estimator.demand(k_start);
  CHECK(before.create_at(Source::cloud).p50 == 90s);
  CHECK(before.create_at(Source::cloud).p90 == 144s);
  CHECK(before.create_at(Source::cloud).success_rate == 1);
  for (int i = 1; i <= 40; ++i) {
    estimator.attempted(attempt(k_start + i * 1min, Attempt::Result::ok, i * 1s));
  }
  for (int i = 0; i < 10; ++i) {
    estimator.attempted(attempt(k_start + 2h, Attempt::Result::failed, 3s, Operation::wake));
  }
  const Demand after = estimator.demand(k_start + 2h);
  CHECK(after.create_at(Source::cloud).samples == 40);
  CHECK(in_seconds(after.create_at(Source::cloud).p50) == Approx(20).margin(1));
  CHECK(in_seconds(after.create_at(Source::cloud).p90) == Approx(36).margin(1));
  CHECK(after.wake_at(Source::cloud).success_rate < 0.3);
  CHECK(after.create_at(Source::local) == before.create_at(Source::local));
}

TEST_CASE("failures that come together count as one, and a success ends the row") {
  DemandEstimator estimator(k_start);
  const auto row = [&] {
    return estimator.demand(k_start + 1h).create_at(Source::cloud).failures_in_row;
  };
  for (int i = 0; i < 8; ++i) {
    estimator.attempted(attempt(k_start + 1min, Attempt::Result::failed, 1s));
  }
  CHECK(row() == 1);
  estimator.attempted(attempt(k_start + 2min, Attempt::Result::timed_out, 1s));
  CHECK(row() == 2);
  estimator.attempted(attempt(k_start + 3min, Attempt::Result::ok, 1s));
  CHECK(row() == 0);
}

TEST_CASE("a lack of capacity says nothing about the success rate") {
  DemandEstimator estimator(k_start);
  for (int i = 0; i < 5; ++i) {
    estimator.attempted(attempt(k_start + i * 1min, Attempt::Result::no_capacity, 1s));
  }
  const LeadTime lead = estimator.demand(k_start + 1h).create_at(Source::cloud);
  CHECK(lead.success_rate == 1);
  CHECK(lead.no_capacity_in_row == 5);
  CHECK(lead.failures_in_row == 0);
}

TEST_CASE("a bucket that grows is counted once, however often it is shown") {
  DemandEstimator estimator(k_start);
  const TimePoint at = k_start + 1h;
  std::vector<DemandBucket> buckets = {{.start = at, .arrivals = 2}};
  estimator.observe(buckets, at + 1s);
  estimator.observe(buckets, at + 2s);
  buckets[0].arrivals = 5;
  buckets[0].ended = 1;
  buckets[0].ended_seconds = 60;
  estimator.observe(buckets, at + 5s);
  buckets.push_back({.start = at + 10s, .arrivals = 1});
  estimator.observe(buckets, at + 11s);
  estimator.observe(buckets, at + 12s);
  const Demand demand = estimator.demand(at + 12s);
  CHECK(demand.last_minute == 6);
  CHECK(demand.session_s == Approx((60 + 5 * 300.0) / 6));
}

TEST_CASE("nothing may be taken away until history is loaded or a stable window has passed") {
  DemandEstimator cold(k_start);
  CHECK_FALSE(cold.demand(k_start).history_ready);
  CHECK_FALSE(cold.demand(k_start + 299s).history_ready);
  CHECK(cold.demand(k_start + 300s).history_ready);
  DemandEstimator loaded(k_start);
  loaded.load({}, {}, k_start);
  CHECK(loaded.demand(k_start).history_ready);
}

TEST_CASE("after a restart the loaded history says what the running estimator said") {
  DemandEstimator running(k_start);
  std::vector<DemandBucket> buckets;
  std::vector<Attempt> attempts;
  Random random(1, 1);
  const TimePoint end = k_start + 20h;
  for (TimePoint at = k_start; at < end; at += k_demand_bucket) {
    const auto arrivals = static_cast<std::int64_t>(random.uniform() * 4);
    // The running one hears of them at the bucket's end, as the loaded one will.
    running.arrived(at + k_demand_bucket, arrivals);
    running.ended(at + k_demand_bucket, 1, 200);
    buckets.push_back({.start = at, .arrivals = arrivals, .ended = 1, .ended_seconds = 200});
  }
  for (int i = 0; i < 20; ++i) {
    attempts.push_back(attempt(k_start + i * 1min, Attempt::Result::ok, (60 + i) * 1s));
    running.attempted(attempts.back());
  }
  DemandEstimator loaded(end);
  loaded.load(buckets, attempts, end);
  const Demand a = running.demand(end), b = loaded.demand(end);
  CHECK(b.fast_per_s == Approx(a.fast_per_s));
  CHECK(b.slow_per_s == Approx(a.slow_per_s));
  CHECK(b.session_s == Approx(a.session_s));
  CHECK(b.dispersion == Approx(a.dispersion).epsilon(0.02));
  CHECK(b.create_at(Source::cloud) == a.create_at(Source::cloud));
}

TEST_CASE("the window keeps the highest target of the recent past") {
  TargetWindow window;
  const auto highest = [&] { return window.targets().front().target; };
  window.add(k_start, 5);
  window.add(k_start + 1s, 9);
  window.add(k_start + 2s, 4);
  window.add(k_start + 3s, 6);
  CHECK(highest() == 9);
  CHECK(window.targets().size() == 2);
  window.forget(k_start + 2s);
  CHECK(highest() == 6);
  for (int i = 0; i < 1000; ++i) {
    window.add(k_start + 10s + i * 1s, 2000 - i);
    window.forget(k_start + 10s + i * 1s - 30s);
  }
  CHECK(window.targets().size() == 31);
}
