#include "scheduler/pool/kept_paused.h"

#include <catch2/catch.hpp>

#include "scheduler/provision/operator_actions.h"
#include "scheduler/scaling/scaler.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr const char* k_who = "operator me";

struct World {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test", .cloud = CloudSwitch::on}};
  DemandTracker demand_tracker{*pool.store};

  Tick tick(int slots = 0, CloudSwitch cloud_switch = CloudSwitch::on) {
    ScalingLimits limits;
    limits.min_free = slots;
    limits.max_free = slots;
    limits.cloud = cloud_switch;
    return Scaler(*pool.store, supply, demand_tracker, &cloud, {.limits = limits, .owner = "one"})
        .tick();
  }
  // As the executor and the prober do.
  void settle(const Gpu& gpu, Event event) {
    const Gpu row = pool.row(gpu);
    REQUIRE(pool.store->change(
        {.id = row.id, .version = row.version, .event = event, .intent = settled_intent(row)},
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
  world.settle(by_hand, Event::paused);
  world.tick();
  CHECK(world.pool.row(by_hand).state == State::paused);
  CHECK(world.wanted(by_hand) == Operation::none);
  CHECK(world.wanted(other) == Operation::destroy);
}

TEST_CASE("a pod that an operator paused is woken when slots are wanted, and is then like others") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  pause_gpu(*world.pool.store, gpu.id.text, k_who);
  world.settle(gpu, Event::paused);
  CHECK(kept_paused(*world.pool.store, {world.pool.row(gpu)}) == std::set{gpu.id});
  world.tick(1);
  REQUIRE(world.wanted(gpu) == Operation::wake);
  world.settle(gpu, Event::ready);
  CHECK(kept_paused(*world.pool.store, {world.pool.row(gpu)}).empty());
  world.tick();
  CHECK(world.wanted(gpu) == Operation::destroy);
}

TEST_CASE("no paused pod stays when the cloud is switched off") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  pause_gpu(*world.pool.store, gpu.id.text, k_who);
  world.settle(gpu, Event::paused);
  world.tick(0, CloudSwitch::off);
  CHECK(world.wanted(gpu) == Operation::destroy);
}

TEST_CASE(
    "what no list of pauses is keeps nothing, and pauses of rows that are gone are forgotten") {
  SmallPool pool;
  const Gpu gone = pool.pod(State::idle, "pod-1"), gpu = pool.pod(State::idle, "pod-2");
  keep_paused(*pool.store, gone);
  CHECK(pool.store->setting("operator.paused") == "{\"" + gone.id.text + "\":0}");
  pool.store->set_setting("operator.paused", R"({"other-1": 0, "other-2": "x"})");
  keep_paused(*pool.store, gpu);
  CHECK(pool.store->setting("operator.paused") == "{\"" + gpu.id.text + "\":0}");
  for (const char* const text : {"", "nonsense", "[]", "{\"a\": -1}"}) {
    pool.store->set_setting("operator.paused", text);
    CHECK(kept_paused(*pool.store, {gpu}).empty());
  }
}
