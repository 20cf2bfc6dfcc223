// Slots that are kept free from a flood: turns, claims and giving way in a store, on both databases.
#include <catch2/catch.hpp>

#include "scheduler/jobs/shares/flood_headroom.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const Cause k_headroom_turn{"gateway", "turn"};
const PreemptionRules k_segment_is_enough{.least_run = {}};

struct FloodedLane {
  explicit FloodedLane(const auto& place)
      : jobs(open_jobs(place)), tenants(StoreBackend::open(place.url())) {}

  void submit(const std::string& tenant, int count) {
    std::vector<NewJob> all(static_cast<std::size_t>(count), new_job("ada"));
    for (NewJob& job : all) {
      job.spec.tenant = {tenant};
      job.work = VideoMinutes(1h);
    }
    jobs.submit(std::span(all), k_user, jobs.now());
    jobs.release({tenant}, k_any_work, 1000, k_user, jobs.now());
  }
  void turn(std::int64_t there) {
    slots = there;
    tenants.divide(4, k_headroom_turn, tenants.now(), there);
  }
  // As the lane, which has a turn every second: however slow this machine is, the last one is not old.
  void turn_again() {
    if (slots) turn(*slots);
  }
  std::optional<Job> claim(const std::string& worker = "w") {
    turn_again();
    return jobs.claim(worker, by_shares(), std::nullopt);
  }
  // Claims until none is left or held back.
  int claims() {
    int count = 0;
    while (claim()) ++count;
    return count;
  }
  std::size_t asked(bool lacks_slot = false, const std::string& worker = "w") {
    turn_again();
    std::size_t runs = 0;
    for (const JobPreemption& one : tenants.preemptions(worker, lacks_slot, k_segment_is_enough))
      runs += one.count;
    return runs;
  }
  bool claimable() {
    turn_again();
    return tenants.has_claimable(tenants.now());
  }

  JobStore jobs;
  TenantStore tenants;
  std::optional<std::int64_t> slots{};  // of the last turn
};

}  // namespace

STORE_TEST("a flood's jobs are not claimed for the last slots, and those of others are") {
  const TestType place;
  FloodedLane lane(place);
  lane.submit("flood", 60);
  lane.submit("other", 1);
  lane.turn(16);
  REQUIRE(lane.claim());
  CHECK(lane.claimable());
  CHECK(lane.claims() == 13);
  CHECK_FALSE(lane.claimable());
  CHECK(lane.jobs.totals({"other"}).at(JobState::running).jobs == 1);
  lane.submit("other", 3);
  CHECK(lane.claimable());
  CHECK(lane.claims() == 3);
  CHECK(lane.jobs.totals({"other"}).at(JobState::running).jobs == 4);
  CHECK(lane.jobs.totals({"flood"}).at(JobState::running).jobs == 13);
  // Another process knows as much, and a larger pool has room again.
  FloodedLane elsewhere(place);
  lane.turn(16);
  CHECK_FALSE(elsewhere.claim());
  elsewhere.turn(24);
  CHECK(elsewhere.claims() == 4);
}

STORE_TEST("where the slots are few or not known, or nobody else is there, a flood has all") {
  const TestType place;
  FloodedLane lane(place);
  lane.submit("flood", 40);
  lane.turn(16);
  CHECK(lane.claims() == 40);
  lane.submit("flood", 40);
  lane.submit("other", 1);
  lane.turn(7);
  CHECK(lane.claims() == 41);
  lane.submit("flood", 40);
  lane.turn(8);
  CHECK(lane.claims() == 0);
  lane.turn(0);
  CHECK(lane.claims() == 40);
}

STORE_TEST("a headroom that no turn repeats ends, and so does that of a tenant that is alone") {
  const TestType place;
  FloodedLane lane(place);
  const TimePoint now = lane.tenants.now();
  lane.submit("flood", 40);
  lane.submit("other", 1);
  REQUIRE(lane.claim());
  // An hour ago: whatever it said holds no longer.
  lane.tenants.divide(4, k_headroom_turn, now - 1h, 8);
  CHECK(lane.claims() == 40);
  lane.submit("flood", 40);
  lane.submit("other", 1);
  lane.tenants.divide(4, k_headroom_turn, now - 10min, 8);  // sees what was submitted
  lane.turn(8);
  CHECK(lane.claims() == 41);
}

STORE_TEST("while others wait, a flood has all slots, and the mean of that is kept") {
  const TestType place;
  FloodedLane lane(place);
  lane.submit("flood", 40);
  lane.submit("other", 8);
  TimePoint at = lane.tenants.now() - 1min;
  for (int i = 0; i < 5; ++i) lane.tenants.divide(4, k_headroom_turn, at += 10s, 16);
  FloodedLane later(place);
  later.turn(16);
  CHECK(later.claims() == 48);
}

STORE_TEST("a flood's jobs give way while fewer slots are free than are kept, at one worker") {
  const TestType place;
  FloodedLane lane(place);
  lane.submit("flood", 40);
  for (int i = 0; i < 15; ++i) REQUIRE(lane.claim(i < 4 ? "v" : "w"));
  lane.submit("other", 1);
  CHECK(lane.asked() == 0);  // no turn has said anything
  lane.turn(16);
  CHECK(lane.asked() == 1);
  CHECK(lane.asked(false, "v") == 0);
  REQUIRE(lane.claim()->spec.tenant.text == "other");
  CHECK(lane.asked() == 2);
  CHECK(lane.asked(true) == 2);  // nobody else's job waits
  lane.submit("late", 1);
  CHECK(lane.asked(true) == 3);  // one for it
  CHECK(lane.asked() == 2);
  const auto wanted = lane.tenants.preemptions("w", false, k_segment_is_enough);
  REQUIRE(wanted.size() == 1);
  CHECK(wanted[0].jobs.size() == 11);
  for (const JobId& id : wanted[0].jobs) {
    const Job job = lane.jobs.find(id).value();
    CHECK(job.spec.tenant.text == "flood");
    lane.jobs.yield(lease_of(job), "room for others", lane.jobs.now());
  }
  CHECK(lane.asked() == 0);
  lane.turn(0);
  CHECK(lane.claims() == 37);
  CHECK(lane.asked() == 0);
}
