// An operator's pause: the GPU stays paused until somebody wakes it.
#include <catch2/catch.hpp>

#include "scheduler/provision/operator_actions.h"
#include "scheduler/scaling/scaler.h"
#include "tests/scheduler/dying_store.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"
#include "tests/scheduler/store/store_place.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr const char* k_who = "operator me";

struct World {
  SmallPool pool{};
  ScriptedProvider cloud{Source::cloud};
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test", .cloud = CloudSwitch::on}};
  DemandTracker demand_tracker{*pool.store};

  Tick tick(int slots = 0, CloudSwitch cloud_switch = CloudSwitch::on) {
    ScalingLimits limits;
    limits.min_free = slots;
    limits.max_free = slots;
    limits.cloud = cloud_switch;
    limits.hold_down = {};
    return Scaler(*pool.store, supply, demand_tracker, &cloud, {.limits = limits, .owner = "one"})
        .tick();
  }
  // The outcome of its operation, as the executor or the prober records it.
  void finish(const Gpu& gpu, Event event) {
    const Gpu row = pool.row(gpu);
    REQUIRE(pool.store->change(
        {.id = row.id, .version = row.version, .event = event, .intent = cleared_intent(row)},
        {"test", "done"}));
  }
  Operation wanted(const Gpu& gpu) { return pool.row(gpu).intent.operation; }
};

}  // namespace

TEST_CASE("a pod that an operator paused stays, and one that the scaler paused may go") {
  World world;
  const Gpu by_hand = world.pool.pod(State::idle, "pod-1"),
            other = world.pool.pod(State::paused, "pod-2");
  pause_gpu(*world.pool.store, by_hand.id.text, k_who);
  world.finish(by_hand, Event::paused);
  world.tick();
  CHECK(world.pool.row(by_hand).state == State::paused);
  CHECK(world.wanted(by_hand) == Operation::none);
  CHECK(world.wanted(other) == Operation::destroy);
}

STORE_TEST("a pod whose pause was cut off by the death of its process is idle, or stays paused") {
  const int writes = GENERATE(0, 1, 2);
  const TestType place;
  World world{.pool = {.store = place.open()}};
  const Gpu before = world.pool.pod(State::idle, "pod-1");
  DyingStore dying(*world.pool.store, writes);
  try {
    pause_gpu(dying, before.id.text, k_who);
  } catch (const Killed&) {
  }
  if (world.pool.row(before) == before) return;
  world.finish(before, Event::paused);
  world.tick();
  CHECK(world.pool.row(before).state == State::paused);
  CHECK(world.wanted(before) == Operation::none);
}

TEST_CASE("a pod that an operator paused is woken when slots are needed, and is then like others") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  pause_gpu(*world.pool.store, gpu.id.text, k_who);
  world.finish(gpu, Event::paused);
  CHECK(kept_paused(world.pool.row(gpu)));
  world.tick(1);
  REQUIRE(world.wanted(gpu) == Operation::wake);
  world.finish(gpu, Event::ready);
  CHECK(!kept_paused(world.pool.row(gpu)));
  world.tick();
  CHECK(world.wanted(gpu) == Operation::destroy);
}

TEST_CASE("no paused pod stays when the cloud is switched off") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  pause_gpu(*world.pool.store, gpu.id.text, k_who);
  world.finish(gpu, Event::paused);
  world.tick(0, CloudSwitch::off);
  CHECK(world.wanted(gpu) == Operation::destroy);
}
