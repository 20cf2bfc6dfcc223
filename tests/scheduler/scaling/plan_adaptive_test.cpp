// The scaler's decision under the adaptive policy, acting or in the shadow.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/scheduler/scaling/plan_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("adaptive: the forecast is that of the formula") {
  // H = 95 s, exp(-95/300) = 0.7286; mean 20 x 0.7286 + 4/60 x 300 x 0.2714 = 20.0;
  // variance 20 x 0.7286 x 0.2714 + 5.428 = 9.383; z(1 %) = 2.3263; skew 0.735: 27.86.
  const Plan plan = busy_pool(20, 4).plan();
  CHECK(plan.target.horizon_s == Approx(95));
  CHECK(plan.target.mean == Approx(20.0).margin(0.01));
  CHECK(plan.target.deviation == Approx(3.063).margin(0.01));
  CHECK(plan.target.least == 28);
}

TEST_CASE("adaptive: longer waits, more dispersion or a stricter P(wait) raise the target") {
  const int plain = busy_pool(20, 4).plan().target.least;
  Pool dispersed = busy_pool(20, 4);
  dispersed.snapshot.demand.dispersion = 4;
  CHECK(dispersed.plan().target.least > plain);
  Pool strict = busy_pool(20, 4);
  strict.limits.wait_probability = 0.0001;
  CHECK(strict.plan().target.least > plain);
  Pool slow = busy_pool(20, 8);
  slow.snapshot.demand.create[2].p90 = 600s;
  CHECK(slow.plan().target.least > busy_pool(20, 8).plan().target.least);
  Pool queue = busy_pool(20, 4);
  queue.snapshot.queued = 5;
  CHECK(queue.plan().target.least >= plain + 3);
}

TEST_CASE("adaptive: one slot is free for the next user even when no arrival is forecast") {
  CHECK(busy_pool(0, 0).plan().target.least == 1);
  CHECK(busy_pool(3, 0).plan().target.least >= 4);
}

TEST_CASE("adaptive: capacity for recurring arrivals is there when their minute begins") {
  Pool pool = busy_pool(20, 4);
  pool.snapshot.demand.minute_left_s = 40;
  pool.snapshot.demand.ahead[2] = {.users = 10, .variance = 4};  // begins in 100 s
  CHECK(pool.plan().target.least == 28);                         // a GPU takes 95 s
  pool.snapshot.demand.minute_left_s = 30;
  const Plan plan = pool.plan();
  CHECK(plan.target.mean == Approx(30.0).margin(0.01));
  CHECK(plan.target.deviation == Approx(std::sqrt(9.383 + 4)).margin(0.01));
  CHECK(plan.target.recurring == Approx(10));
  CHECK(plan.target.least > 38);
  const std::string line = explain(plan, pool.limits, pool.snapshot.demand).front();
  CHECK(line.find("10.0 of them from arrivals that recur every hour") != std::string::npos);
}

TEST_CASE("adaptive: the learned headroom takes the normal one's place as far as it is trusted") {
  Pool pool = busy_pool(20, 4);
  Headroom& headroom = pool.snapshot.memory.headroom;
  for (auto& steps : headroom.beyond) steps[20] = 1000;  // 9.6 to 11.5 deviations
  headroom.sizes = {10, 5, 1};
  headroom.users = 1000;
  CHECK(pool.plan().target.least == 28);
  headroom.bursts = 20;
  const int half = pool.plan().target.least;
  headroom.bursts = 1e9;
  const int whole = pool.plan().target.least;
  // 20 busy, and 11.5 deviations of sqrt(9.383 + 0.25).
  CHECK(whole == Approx(20 + 11.5 * 3.104).margin(1));
  CHECK(half == Approx((28 + whole) / 2.0).margin(1));
  const Plan plan = pool.plan();
  CHECK(plan.memory.headroom.used == plan.target.learned);  // what people are shown
  CHECK(plan.memory.headroom.used.trust == Approx(1));
}

TEST_CASE("adaptive: every tick learns, in the shadow too, and static alone does not") {
  Pool pool = busy_pool(20, 4);
  CHECK(pool.plan().memory.headroom.at == k_now);
  CHECK(pool.plan().memory.headroom.busy == 20);
  pool.limits.policy = ScalingPolicy::static_limits;
  CHECK(pool.plan().memory.headroom == Headroom{});
  pool.limits.shadow = ScalingPolicy::adaptive;
  CHECK(pool.plan().memory.headroom.at == k_now);
}

TEST_CASE("adaptive: never below Erlang's floor of the steady rate") {
  const Plan plan = busy_pool(0, 8).plan();  // 40 busy slots are to be expected, none is
  CHECK(plan.target.floor == 48);
  CHECK(plan.target.least == 48);
}

TEST_CASE("adaptive: what fast ways can bring need not be kept hot") {
  Pool pool = busy_pool(20, 4);
  const int cold = pool.plan().target.least;
  for (int i = 0; i < 3; ++i) pool.add(Source::local, State::paused);
  const Plan plan = pool.plan();
  CHECK(plan.target.least < cold);
  CHECK(plan.target.least + 3 >= cold);  // hot and paused together cover the slow way
}

TEST_CASE("adaptive: MIN is a floor, FREE a ceiling only where it is set") {
  Pool pool = busy_pool(20, 4);
  pool.limits.min_free = 30;
  CHECK(pool.plan().target.least == 50);
  pool.limits.min_free = 0;
  pool.limits.max_free = 2;
  CHECK(pool.plan().target.least == 22);
}

TEST_CASE("adaptive: down only to the highest target of the hold") {
  Pool pool = busy_pool(0, 0);
  for (int i = 0; i < 10; ++i) pool.add(Source::cloud, State::idle);
  const std::vector<TimedTarget> recent = {{k_now - 61s, 9}, {k_now - 60s, 7}, {k_now - 5s, 3}};
  pool.snapshot.recent = recent;
  const Plan plan = pool.plan();
  CHECK(plan.target.held);
  CHECK(plan.actions.size() == 3);
  CHECK(plan.target.most == 7);
  pool.snapshot.recent = {};
  CHECK(pool.plan().actions.size() == 9);
}

TEST_CASE("adaptive: a surge or a waiting user freezes downs for a while") {
  Pool pool = busy_pool(0, 0);
  for (int i = 0; i < 10; ++i) pool.add(Source::cloud, State::idle);
  SECTION("a minute of more than twice the usual") {
    pool.snapshot.demand.slow_per_s = 2.0 / 60;
    pool.snapshot.demand.session_s = 30;
    pool.snapshot.demand.last_minute = 5;
    const Plan plan = pool.plan();
    CHECK(plan.target.surge);
    CHECK(plan.actions.empty());
    CHECK(plan.memory.surge_until == k_now + pool.limits.surge_hold);
    pool.snapshot.demand.last_minute = 4;
    CHECK_FALSE(pool.plan().actions.empty());
  }
  SECTION("a waiting user") {
    pool.snapshot.queued = 1;
    CHECK(pool.plan().actions.empty());
  }
  SECTION("until it is over") {
    pool.snapshot.memory.surge_until = k_now + 1s;
    CHECK(pool.plan().actions.empty());
    CHECK(pool.plan().memory.surge_until == k_now + 1s);
    pool.snapshot.memory.surge_until = k_now;
    CHECK_FALSE(pool.plan().actions.empty());
  }
}

TEST_CASE("no thrash: the plan of a pool that has reached its target is empty") {
  Pool pool = busy_pool(20, 4);
  for (const Action& action : pool.plan().actions) pool.add(action.source, State::starting);
  CHECK(pool.did() == "");
}

TEST_CASE("shadow: the other policy is computed and shown, and changes nothing") {
  Pool pool = busy_pool(20, 4);
  pool.limits.policy = ScalingPolicy::static_limits;
  pool.limits.min_free = 1;
  pool.limits.max_free = 2;
  const Plan without = pool.plan();
  pool.limits.shadow = ScalingPolicy::adaptive;
  const Plan with = pool.plan();
  REQUIRE(with.shadow);
  CHECK(with.shadow->forecast == 28);
  CHECK(with.shadow->least == 22);  // FREE holds for it too
  CHECK(with.actions == without.actions);
  CHECK(as_text(with.memory) == as_text(without.memory));  // but it learns its headroom
}
