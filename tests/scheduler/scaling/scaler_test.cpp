#include "scheduler/scaling/scaler.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

struct World {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test", .cloud = CloudSwitch::on}};
  DemandTracker demand_tracker{*pool.store};

  Scaler scaler(const std::string& owner, ScalingLimits limits = {}) {
    return {*pool.store, supply, demand_tracker, &cloud, {.limits = limits, .owner = owner}};
  }
  void host(std::vector<std::string> devices) {
    register_host(*pool.store, {.name = "here", .devices = std::move(devices)},
                  std::chrono::minutes(1));
  }
  std::vector<Gpu> gpus() { return pool.store->view().gpus; }
};

ScalingLimits static_limits(int min, int max) {
  ScalingLimits limits;
  limits.min_free = min;
  limits.max_free = max;
  limits.cloud = CloudSwitch::on;
  limits.failed_hold = {};
  limits.hold_down = {};  // GPUs that have just become idle are not held
  return limits;
}

}  // namespace

TEST_CASE("a tick writes intents for what is missing, local before cloud, and remembers why") {
  World world;
  world.host({"cpu"});
  const Tick tick = world.scaler("one", static_limits(2, 3)).tick();
  CHECK(tick.held);
  CHECK(tick.acted == 2);
  const auto gpus = world.gpus();
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].source == Source::local);
  CHECK(gpus[1].source == Source::cloud);
  for (const Gpu& gpu : gpus) CHECK(gpu.intent.operation == Operation::create);
  const auto decisions = world.pool.store->decisions({});
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].target == 2);
  CHECK(decisions[0].policy == "static");
}

TEST_CASE("one tick starts a worker on each free device that it needs") {
  World world;
  world.host({"cuda:0", "cuda:1", "cuda:2"});
  CHECK(world.scaler("one", static_limits(3, 3)).tick().acted == 3);
  std::vector<std::string> devices;
  for (const Gpu& gpu : world.gpus()) devices.push_back(gpu.device);
  std::sort(devices.begin(), devices.end());
  CHECK(devices == std::vector<std::string>{"cuda:0", "cuda:1", "cuda:2"});
}

TEST_CASE("each host's devices count with that host's slots") {
  World world;
  for (const auto& [name, slots] : {std::pair("one-each", 1), std::pair("four-each", 4)}) {
    register_host(*world.pool.store, {.name = name, .devices = {"cpu"}, .slots_per_device = slots},
                  std::chrono::minutes(1));
  }
  const Tick tick = world.scaler("one", static_limits(5, 5)).tick();
  CHECK(tick.plan.capacity.local == 5);
  REQUIRE(tick.plan.actions.size() == 2);
  for (const Action& action : tick.plan.actions) CHECK(action.source == Source::local);
}

TEST_CASE("a dry run changes nothing and says the same") {
  World world;
  world.host({"cpu"});
  Scaler scaler = world.scaler("one", static_limits(1, 1));
  const Tick dry = scaler.dry_run();
  CHECK(dry.plan.actions.size() == 1);
  CHECK(!dry.explanation.empty());
  CHECK(world.gpus().empty());
  CHECK(world.pool.store->decisions({}).empty());
  CHECK(scaler.tick().plan.actions.size() == 1);
}

TEST_CASE("one scaler acts at a time, and the next may when it leaves") {
  World world;
  world.host({"cpu", "cuda:0"});
  {
    Scaler one = world.scaler("one", static_limits(1, 1));
    CHECK(one.tick().held);
    Scaler two = world.scaler("two", static_limits(2, 2));
    CHECK(!two.tick().held);
    CHECK(world.gpus().size() == 1);
  }
  CHECK(world.scaler("two", static_limits(2, 2)).tick().held);
  CHECK(world.gpus().size() == 2);
}

TEST_CASE("idle cloud GPUs above the ceiling are given back; a busy or dedicated one never is") {
  World world;
  for (int i = 0; i < 4; ++i) world.pool.pod(State::idle, "pod-" + std::to_string(i));
  Gpu dedicated = new_gpu(world.pool.identity, Source::cloud);
  dedicated.state = State::idle;
  dedicated.dedicated_to = {"acme"};
  dedicated = world.pool.add(dedicated);
  const auto lease = world.pool.claim("user");
  REQUIRE(lease);
  world.scaler("one", static_limits(0, 1)).tick();
  int stopping = 0;
  for (const Gpu& gpu : world.gpus()) {
    if (gpu.state != State::stopping) continue;
    ++stopping;
    CHECK(gpu.intent.operation == Operation::destroy);
    CHECK(gpu.id != lease->gpu);
    CHECK(gpu.id != dedicated.id);
  }
  CHECK(stopping == 2);
}

TEST_CASE("a failed pod is destroyed after its hold") {
  World world;
  const Gpu gpu = world.pool.pod(State::failed, "pod-1");
  ScalingLimits patient = static_limits(0, 1);
  patient.failed_hold = std::chrono::hours(1);
  world.scaler("one", patient).tick();
  CHECK(world.pool.row(gpu).state == State::failed);
  world.scaler("one", static_limits(0, 1)).tick();
  CHECK(world.pool.row(gpu).state == State::stopping);
  CHECK(world.pool.row(gpu).intent.operation == Operation::destroy);
}

TEST_CASE("a start past its deadline fails, and counts as timed out") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-1";
  gpu.since = world.pool.store->now() - std::chrono::hours(1);
  gpu = world.pool.add(gpu);
  ScalingLimits limits = static_limits(0, 1);
  // Its own source's deadline counts.
  limits.start_deadline = {std::chrono::minutes(1), std::chrono::minutes(1), std::chrono::hours(2)};
  world.scaler("one", limits).tick();
  CHECK(world.pool.row(gpu).state == State::starting);
  limits.start_deadline.back() = std::chrono::minutes(20);
  world.scaler("one", limits).tick();
  CHECK(world.pool.row(gpu).state == State::failed);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].result == Attempt::Result::timed_out);
  CHECK(attempts[0].operation == Operation::create);
}

TEST_CASE("a start past its deadline says what its worker answered last") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-1";
  gpu.created_at = gpu.since = world.pool.store->now() - std::chrono::hours(1);
  gpu.last_error = "the worker sees no GPU";
  gpu = world.pool.add(gpu);
  world.scaler("one", static_limits(1, 1)).tick();
  CHECK(world.pool.row(gpu).last_error ==
        "its start took longer than the deadline; its last answer: the worker sees no GPU");
}

TEST_CASE("a wake past its deadline counts as a wake") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-1";
  gpu.since = world.pool.store->now() - std::chrono::hours(1);
  gpu.seen_at = gpu.since - std::chrono::hours(1);
  world.pool.add(gpu);
  world.scaler("one", static_limits(0, 1)).tick();
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].operation == Operation::wake);
}

TEST_CASE("the shadow's decision is recorded beside the acting one, and not acted on") {
  World world;
  world.host({"cpu", "cuda:0"});
  ScalingLimits limits = static_limits(1, 1);
  limits.shadow = ScalingPolicy::adaptive;
  world.scaler("one", limits).tick();
  const auto decisions = world.pool.store->decisions({});
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].shadow != decisions[1].shadow);
  CHECK(world.gpus().size() == 1);
}

TEST_CASE("a scaler that lost its lease can write nothing more") {
  World world;
  world.host({"cpu"});
  const auto fence = world.pool.store->hold_scaler("old", {});
  REQUIRE(fence);
  REQUIRE(world.pool.store->hold_scaler("new", std::chrono::minutes(1)));
  CHECK(
      world.supply.create(world.pool.store->view(), Source::local, "late", {}, *fence).operation ==
      Operation::none);
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  CHECK(!world.pool.store->change(
      {.id = gpu.id, .version = gpu.version, .event = Event::pause, .fence = *fence},
      {"old", "late"}));
}
