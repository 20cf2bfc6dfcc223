// How many GPUs the batch lane starts, keeps and gives back, turn by turn.
#include "scheduler/jobs/lanes/batch_demand.h"

#include <catch2/catch.hpp>

#include "scheduler/jobs/lanes/fleet_memory.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_first_turn{std::chrono::hours(24 * 365)};
constexpr LaneGrowth k_growing_lane{.max_gpus = 20, .rate = 1, .cold_start = 150s, .hold = 60s};

// A lane of which each turn takes a second.
struct FleetTurns {
  LaneGrowth lane = k_growing_lane;
  OfflineDemand demand{};
  TimePoint now = k_first_turn;

  // As long as `time`, with jobs of three video-minutes that all run; the slots that are wanted then.
  int run(std::int64_t jobs, Duration time) {
    const VideoMinutes work(jobs * 90s);
    return run({.work = work, .jobs = jobs, .running_jobs = jobs}, time);
  }
  int run(const LaneWork& work, Duration time) {
    for (const TimePoint to = now + time; now < to;) {
      now += 1s;
      demand = demand_after(demand, work, lane, now);
    }
    return demand.slots;
  }
};

}  // namespace

TEST_CASE("jobs render in less than four fifths of the time of the GPUs that the lane keeps") {
  for (const std::int64_t jobs : {2, 3, 5, 8, 12, 15}) {
    CAPTURE(jobs);
    FleetTurns turns;
    const int kept = turns.run(jobs, 3h);
    CHECK(static_cast<double>(jobs) / kept <= k_most_utilisation);
    CHECK(kept <= jobs * 5 / 4 + 1);
  }
}

TEST_CASE("GPUs outlast a moment with fewer jobs, and go as the need falls") {
  FleetTurns turns;
  REQUIRE(turns.run(8, 2h) == 10);
  CHECK(turns.run(2, 1min) >= 9);
  CHECK(turns.run(8, 2min) >= 9);
  const int later = turns.run(2, 15min);
  CHECK(later < 8);
  CHECK(later > 3);
  CHECK(turns.run(2, 2h) == 3);
}

TEST_CASE("one long job keeps one GPU, also after a batch") {
  FleetTurns turns;
  turns.demand.slots = 1;
  CHECK(turns.run(1, 10h) == 1);
  turns.run(16, 1h);
  CHECK(turns.demand.slots == 20);
  CHECK(turns.run(1, 2h) == 1);
}

TEST_CASE("no more is kept than the lane may have, also when that falls") {
  FleetTurns turns;
  REQUIRE(turns.run(20, 1h) == 20);
  turns.lane.max_gpus = 3;
  CHECK(turns.run(20, 1s) == 3);
  CHECK(turns.run(0, 1s) == 3);
  turns.lane.max_gpus = 0;
  CHECK(turns.run(0, 1s) == 0);
}

TEST_CASE("the lane starts none while slots that users leave take its jobs") {
  FleetTurns turns;
  turns.lane.left = 4;
  CHECK(turns.run(3, 1h) == 0);
  CHECK(turns.run(4, 1h) == 1);  // four of five are four fifths
  CHECK(turns.run(8, 2h) == 6);
  const LaneWork much{.work = VideoMinutes(1h), .jobs = 30, .running_jobs = 4};
  FleetTurns grown;
  grown.lane.left = 4;
  CHECK(grown.run(much, 1s) > 1);  // sixty minutes last longer than two cold starts of four GPUs
}

TEST_CASE("GPUs wait for more work as long as a cold start, while nothing is known of its gaps") {
  FleetTurns turns;
  turns.run(4, 1h);
  CHECK(turns.run(0, 120s) >= 1);
  CHECK(turns.run(0, 60s) == 0);
  CHECK(turns.demand.needed == 0);
}

TEST_CASE(
    "GPUs outlast short gaps between batches, and wait for the hold alone where gaps are long") {
  FleetTurns turns;
  for (int batch = 0; batch < 6; ++batch) {
    turns.run(4, 10min);
    turns.run(0, 4min);
  }
  turns.run(4, 10min);
  CHECK(turns.run(0, 10min) >= 1);
  CHECK(turns.run(0, 5min) == 0);
  for (int batch = 0; batch < 6; ++batch) {
    turns.run(4, 10min);
    turns.run(0, 1h);
  }
  turns.run(4, 10min);
  CHECK(turns.run(0, 30s) >= 1);
  CHECK(turns.run(0, 60s) == 0);
}

TEST_CASE("a night without work is forgotten after some short gaps") {
  Duration gap = learnt_gap({}, 10h, 150s);
  CHECK(idle_hold(150s, gap) == 0s);
  for (int i = 0; i < 4; ++i) gap = learnt_gap(gap, 60s, 150s);
  CHECK(idle_hold(150s, gap) >= 150s);
}

TEST_CASE("turns that are far apart are no gap") {
  FleetTurns turns;
  const LaneWork work{.work = VideoMinutes(1min), .jobs = 1, .running_jobs = 1};
  for (int i = 0; i < 100; ++i) {
    turns.demand = demand_after(turns.demand, work, turns.lane, turns.now += 13s);
  }
  CHECK(turns.demand.gap == 0s);
}

TEST_CASE("the mean need rises within ten minutes and falls within fifteen, to none at least") {
  CHECK(smoothed_need(0, 10, 10min) == Approx(6.32).margin(0.01));
  CHECK(smoothed_need(10, 0, 15min) == Approx(3.68).margin(0.01));
  CHECK(smoothed_need(1, -20, 15min) == 0);
  CHECK(smoothed_need(4, 4, 1s) == 4);
}
