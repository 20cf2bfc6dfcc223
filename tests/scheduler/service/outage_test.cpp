// A fault of the network, seen by prober, scaler and supply together.
#include <catch2/catch.hpp>

#include "scheduler/scaling/scaler.h"
#include "scheduler/service/pool_report.h"
#include "tests/scheduler/health/probed_pool.h"
#include "tests/scheduler/provision/scripted_provider.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

ScalingLimits pods_free(int pods) {
  ScalingLimits limits;
  limits.min_free = limits.max_free.emplace(4 * pods);  // of four slots each
  limits.cloud = CloudSwitch::on;
  limits.failed_hold = {};
  return limits;
}

struct World {
  ProbedPool probed{};
  PoolStore& store = *probed.pool.store;
  ScriptedProvider cloud{Source::cloud};
  Supply supply{store, {.identity = probed.pool.identity, .who = "test", .cloud = CloudSwitch::on}};
  DemandTracker demand_tracker{store};
  Scaler scaler;
  std::vector<Gpu> pods{};

  explicit World(int count)
      : scaler(store, supply, demand_tracker, &cloud,
               {.limits = pods_free(count), .owner = "test", .has_asked = [this](const Gpu& gpu) {
                  return probed.prober.has_asked(gpu);
                }}) {
    for (int i = 0; i < count; ++i) pods.push_back(probed.put(Source::cloud, State::idle));
  }
  void look(int times) {
    for (int i = 0; i < times; ++i) {
      probed.look();
      scaler.tick();
    }
  }
  int in_state(State state) {
    int count = 0;
    for (const Gpu& gpu : store.view().gpus) count += gpu.state == state ? 1 : 0;
    return count;
  }
  std::vector<std::string> outage_events() {
    std::vector<std::string> why;
    for (const PoolEvent& event : store.events({})) {
      if (event.gpu.empty()) why.push_back(event.why);
    }
    return why;
  }
};

}  // namespace

TEST_CASE("the pods of one cloud are spared in its outage, however many GPUs another cloud has") {
  World world(3);
  for (int i = 0; i < 6; ++i) {
    const std::string pod = "kubernetes/gpus/p" + std::to_string(i) + "/u";
    world.probed.put(Source::cloud, State::idle, world.probed.alias(), pod);
  }
  world.look(1);
  world.probed.worker.set({.alive = false});
  // Those of the cluster go on answering.
  for (int i = 0; i < 6; ++i) {
    world.probed.prober.step(true);
    REQUIRE(world.probed.prober.wait_idle(k_long, {}));
    for (const Gpu& gpu : world.store.view().gpus) {
      if (origin_of(gpu) == Origin::kubernetes) world.store.seen({{gpu.id}}, world.store.now());
    }
    world.scaler.tick();
  }
  CHECK(read_outages(world.store)[Origin::runpod].on);
  CHECK_FALSE(read_outages(world.store)[Origin::kubernetes].on);
  CHECK(world.in_state(State::idle) == 9);
}

TEST_CASE("four idle pods that are silent for a while are neither destroyed nor replaced") {
  World world(4);
  world.look(1);
  world.probed.worker.set({.alive = false});
  world.look(6);
  CHECK(world.in_state(State::idle) == 4);
  CHECK(world.store.view().gpus.size() == 4);
  CHECK(read_outages(world.store)[Origin::runpod].on);
  CHECK(report_pool(world.store).totals.silent[Origin::runpod] == 4);
  CHECK(world.outage_events().size() == 1);
  CHECK_FALSE(world.probed.pool.claim("nobody is put on a silent one"));

  world.probed.worker.set({.slots = 4});
  world.look(2);
  CHECK_FALSE(read_outages(world.store)[Origin::runpod].on);
  CHECK(world.in_state(State::idle) == 4);
  CHECK(world.store.view().gpus.size() == 4);
  CHECK(world.outage_events().size() == 2);
  CHECK(world.probed.pool.claim("now"));
}

TEST_CASE("users who wait in an outage get a pod, and the silent ones no further replacement") {
  World world(4);
  world.look(1);
  world.probed.worker.set({.alive = false});
  world.look(4);
  REQUIRE(world.probed.pool.enqueue("waits"));
  world.supply.ensure_for_waiters();
  world.supply.ensure_for_waiters();
  world.supply.prepare_next();
  CHECK(world.in_state(State::starting) == 1);
  world.look(1);
  CHECK(world.in_state(State::starting) == 1);
  CHECK(world.in_state(State::idle) == 4);
}

TEST_CASE("a pod that failed before the others fell silent is kept until the outage is over") {
  World world(4);
  world.look(1);
  // It is lost to a prober that sees nothing wrong with the others yet.
  const Gpu first = world.pods[0];
  for (int i = 0; i < 3; ++i) world.store.missed({{first.id, "silent"}}, world.store.now());
  const Gpu row = world.probed.pool.row(first);
  REQUIRE(world.store.change({.id = row.id, .version = row.version, .event = Event::fail},
                             {"test", "silent"}));
  world.probed.worker.set({.alive = false});
  world.probed.look(3);
  REQUIRE(read_outages(world.store)[Origin::runpod].on);
  world.scaler.tick();
  CHECK(world.probed.pool.row(first).state == State::failed);
  world.probed.worker.set({.slots = 4});
  world.look(3);
  CHECK(world.in_state(State::idle) == 4);
}

TEST_CASE("one silent pod of four fails, and so does what is still silent after an outage") {
  World world(3);
  const LoopbackServer closed([](Connection& client, const ReceivedRequest&) { client.close(); });
  const Gpu dead = world.probed.put(Source::cloud, State::idle, closed.url());
  const bool outage_first = GENERATE(false, true);
  if (outage_first) {
    world.probed.worker.set({.alive = false});
    world.probed.look(4);
    CHECK(world.in_state(State::idle) == 4);
    world.probed.worker.set({.slots = 4});
  }
  world.probed.look(3);
  CHECK(world.probed.pool.row(dead).state == State::failed);
  CHECK(world.in_state(State::idle) == 3);
  CHECK_FALSE(read_outages(world.store)[Origin::runpod].on);
}

TEST_CASE("one or two pods that are silent are not destroyed, and users who wait get one pod") {
  World world(GENERATE(1, 2));
  const int pods = static_cast<int>(world.pods.size());
  CAPTURE(pods);
  world.look(1);
  world.probed.worker.set({.alive = false});
  world.look(6);
  CHECK(read_outages(world.store)[Origin::runpod].on);
  CHECK(world.outage_events().size() == 1);
  CHECK(world.in_state(State::idle) == pods);
  CHECK(world.in_state(State::stopping) == 0);
  for (const char* const who : {"a", "b", "c", "d", "e", "f"}) {
    REQUIRE(world.probed.pool.enqueue(who));
  }
  world.supply.ensure_for_waiters();
  world.supply.ensure_for_waiters();
  CHECK(world.in_state(State::starting) == 1);

  world.probed.worker.set({.slots = 4});
  world.look(2);
  CHECK_FALSE(read_outages(world.store)[Origin::runpod].on);
  CHECK(world.in_state(State::idle) >= pods);
}

TEST_CASE("two pods that stay silent for longer than ten minutes are failed, and that is said") {
  World world(2);
  world.look(1);
  world.probed.worker.set({.alive = false});
  world.probed.look(4);
  REQUIRE(read_outages(world.store)[Origin::runpod].on);
  // As if they had been silent since eleven minutes ago.
  std::vector<Miss> misses;
  std::vector<GoodAnswer> answers;
  for (const Gpu& gpu : world.pods) {
    answers.push_back({gpu.id});
    misses.push_back({gpu.id, "silent"});
  }
  const TimePoint then = world.store.now() - std::chrono::minutes(11);
  world.store.seen(answers, world.store.now());
  world.store.missed(misses, then);
  world.probed.look(4);
  CHECK_FALSE(read_outages(world.store)[Origin::runpod].on);
  CHECK(world.in_state(State::failed) == 2);
}

TEST_CASE("two silent registered workers fail, though they are all there are") {
  World world(0);
  world.probed.put(Source::external, State::idle);
  world.probed.put(Source::external, State::idle, world.probed.alias());
  world.probed.worker.set({.alive = false});
  world.probed.look(3);
  CHECK(world.in_state(State::failed) == 2);
}

TEST_CASE("a pod that failed before this process began is destroyed only after it was asked") {
  World world(1);
  const bool well = GENERATE(true, false);
  CAPTURE(well);
  const Gpu pod = world.pods[0];
  world.store.seen({{pod.id}}, world.store.now());
  for (int i = 0; i < 3; ++i) world.store.missed({{pod.id, "silent"}}, world.store.now());
  const Gpu row = world.probed.pool.row(pod);
  REQUIRE(world.store.change({.id = row.id, .version = row.version, .event = Event::fail},
                             {"test", "silent"}));
  world.probed.worker.set({.alive = well});
  world.scaler.tick();
  CHECK(world.probed.pool.row(pod).state == State::failed);
  world.probed.look(1);
  world.scaler.tick();
  CHECK(world.probed.pool.row(pod).state == State::failed);
  world.look(3);
  CHECK(world.probed.pool.row(pod).state == (well ? State::idle : State::stopping));
}
