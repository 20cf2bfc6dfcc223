// The scaler's decision about GPUs that fail, are silent, or do not start: what is replaced, when, and what is left alone.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/scheduler/scaling/plan_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("a failed GPU is not replaced during its hold, then it is cleared and replaced") {
  Pool pool;
  pool.limits.min_free = 1;
  auto& gpu = pool.add(Source::cloud, State::failed);
  gpu.since = k_now - 29s;
  CHECK(pool.did() == "");
  CHECK(pool.plan().missing == 0);
  gpu.since = k_now - 30s;
  CHECK(pool.did() == "clear-failed g0; create cloud");
  gpu.sessions = 1;  // leases that have not ended yet
  CHECK(pool.did() == "create cloud");
}

TEST_CASE("a silent GPU still counts: nothing is made for it, and it is not surplus") {
  Pool pool;
  pool.limits.min_free = 1;
  pool.limits.max_free = 1;
  pool.add(Source::cloud, State::idle).misses = k_silent_misses;
  CHECK(pool.did() == "");
  CHECK(pool.plan().missing == 0);
  CHECK(pool.plan().capacity.free == 0);
  pool.add(Source::cloud, State::idle);
  CHECK(pool.did() == "");
  pool.add(Source::cloud, State::idle);
  CHECK(pool.did() == "destroy g2");
  pool.snapshot.queued =
      2;  // for them the scaler leaves its place empty, and the gateways make more
  CHECK(pool.did() == "");
}

TEST_CASE("in an outage a GPU that failed for its silence still counts, and no other one does") {
  Pool pool;
  pool.limits.min_free = 2;
  for (int i = 0; i < 2; ++i) {
    auto& gpu = pool.add(Source::cloud, State::failed);
    gpu.since = k_now - 1h;
    gpu.seen_at = k_now - 2h;
    gpu.misses = i == 0 ? k_silent_misses : 0;
  }
  CHECK(pool.did() == "clear-failed g0; clear-failed g1; create cloud; create cloud");
  Outage& outage = pool.snapshot.outages[Origin::runpod];
  outage = {.on = true, .since = k_now - 10min};
  CHECK(pool.did() == "clear-failed g1; create cloud");
  outage = {.on = false, .since = k_now - 29s};
  CHECK(pool.did() == "clear-failed g1; create cloud");
  outage.since = k_now - 30s;
  CHECK(pool.did() == "clear-failed g0; clear-failed g1; create cloud; create cloud");
}

TEST_CASE("a failed GPU that nobody has asked is neither destroyed nor replaced") {
  Pool pool;
  pool.limits.min_free = 1;
  auto& gpu = pool.add(Source::cloud, State::failed);
  gpu.since = k_now - 1h;
  pool.snapshot.unasked = {gpu.id};
  CHECK(pool.did() == "");
  pool.snapshot.unasked.clear();
  CHECK(pool.did() == "clear-failed g0; create cloud");
}

TEST_CASE("the only pod that serves is replaced in an outage after the hold, one of two is not") {
  Pool pool;
  pool.limits.min_free = 2;
  pool.snapshot.outages[Origin::runpod] = {.on = true, .since = k_now - 10min};
  const auto add_silent = [&] {
    Gpu& gpu = pool.add(Source::cloud, State::idle);
    gpu.misses = k_silent_misses;
    gpu.missed_since = k_now - pool.limits.failed_hold;
  };
  add_silent();
  CHECK(pool.did() == "create cloud");
  pool.snapshot.gpus[0].missed_since += 1s;
  pool.limits.min_free = 1;
  CHECK(pool.did() == "");
  pool.snapshot.gpus[0].missed_since -= 1s;
  CHECK(pool.did() == "create cloud");
  add_silent();
  CHECK(pool.did() == "");
}

TEST_CASE("in an outage new GPUs of its source are tried one at a time, others as always") {
  Pool pool;
  pool.limits.min_free = 5;
  pool.limits.max_paused_cloud = 1;
  pool.source(Source::local).creatable = 2;
  pool.snapshot.outages[Origin::runpod] = {.on = true, .since = k_now - 10min};
  CHECK(pool.did() == "create local; create local; create cloud");
  CHECK(pool.plan().missing == 2);
  CHECK(pool.plan().blocked_by == BlockedBy::outage);
  pool.add(Source::cloud, State::paused);
  CHECK(pool.did() == "create local; create local; wake g0");
  pool.add(Source::cloud, State::starting);
  CHECK(pool.did() == "create local; create local");
  pool.snapshot.gpus[1].state = State::failed;  // the next one
  CHECK(pool.did() == "create local; create local; wake g0");
}

TEST_CASE("an external GPU that failed is left to the prober, never destroyed") {
  Pool pool;
  auto& gpu = pool.add(Source::external, State::failed);
  CHECK(pool.did() == "");
  gpu.since = k_now - 1h;
  CHECK(pool.did() == "");
}

TEST_CASE("a start that takes longer than the deadline fails") {
  Pool pool;
  auto& gpu = pool.add(Source::cloud, State::starting);
  gpu.since = k_now - pool.limits.start_deadline.at(static_cast<std::size_t>(gpu.source));
  CHECK(pool.did() == "");
  gpu.since -= 1s;
  CHECK(pool.did() == "fail g0");
}

TEST_CASE("a source that fails backs off for longer and longer, and a crash loop is reported") {
  Pool pool;
  pool.limits.min_free = 1;
  LeadTime& lead = pool.snapshot.demand.create[2];
  const auto backs_off = [&](int failures, Duration ago) {
    lead.failures_in_row = failures;
    lead.last_failure = k_now - ago;
    return pool.did().empty();
  };
  CHECK(backs_off(1, 4s));
  CHECK_FALSE(backs_off(1, 5s));
  CHECK(pool.plan().blocked_by == BlockedBy::none);
  CHECK(backs_off(2, 9s));
  CHECK_FALSE(backs_off(2, 10s));
  CHECK(backs_off(3, 19s));
  CHECK(pool.plan().blocked_by == BlockedBy::crash_loop);
  CHECK(backs_off(1000, 299s));
  CHECK_FALSE(backs_off(1000, 300s));
}
