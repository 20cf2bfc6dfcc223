#include "scheduler/provision/reconciler/reconciler.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/process/identity.h"
#include "scheduler/provision/operator_actions.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using Status = Instance::Status;

namespace {

struct World {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  Reconciler reconciler{
      *pool.store,
      cloud,
      {.identity = pool.identity, .who = "test", .orphan_grace = {}, .consistency_window = {}}};

  bool pass() { return reconciler.pass({}); }
  Gpu created_by(const std::string& owner, Duration until) {
    Gpu gpu = new_gpu(pool.identity, Source::cloud);
    gpu.intent = {.operation = Operation::create,
                  .number = 1,
                  .owner = owner,
                  .until = pool.store->now() + until,
                  .called = true};
    return pool.add(gpu);
  }
  Instance listed(const Gpu& gpu, Status status = Status::running) {
    const Instance instance = {.provider_id = gpu.provider_id.empty() ? "pod-x" : gpu.provider_id,
                               .name = gpu.name,
                               .status = status,
                               .url = "http://127.0.0.1:9/x",
                               .usd_per_hour = 0.5,
                               .detail = "as listed"};
    cloud.put(instance);
    return instance;
  }
};

}  // namespace

TEST_CASE("an instance whose create was never answered is found by its name") {
  World world;
  const Gpu gpu = world.created_by("", {});
  world.listed(gpu);
  CHECK(world.pass());
  const Gpu row = world.pool.row(gpu);
  CHECK(row.provider_id == "pod-x");
  CHECK(row.url == "http://127.0.0.1:9/x");
  CHECK(row.intent.operation == Operation::none);
  CHECK(row.state == State::starting);
  REQUIRE(world.pool.store->ledger({}).size() == 1);
  CHECK(world.pool.store->ledger({})[0].from == gpu.created_at);
}

TEST_CASE("an instance that was found before it listened gets its address from a later list") {
  World world;
  const Gpu gpu = world.created_by("", {});
  Instance instance = world.listed(gpu, Status::starting);
  instance.url = "";
  world.cloud.put(instance);
  CHECK(world.pass());
  CHECK(world.pool.row(gpu).provider_id == "pod-x");
  CHECK(world.reconciler.next_pass() <= std::chrono::seconds(10));
  world.listed(world.pool.row(gpu));
  CHECK(world.pass());
  CHECK(world.pool.row(gpu).url == "http://127.0.0.1:9/x");
  CHECK(world.reconciler.next_pass() > std::chrono::seconds(10));
}

TEST_CASE("a create without an effect fails after the consistency window, and not before") {
  SECTION("settled") {
    World world;
    const Gpu gpu = world.created_by("", {});
    world.pass();
    CHECK(world.pool.row(gpu).state == State::failed);
    CHECK(world.pool.row(gpu).last_error == "the create call had no effect");
  }
  SECTION("not yet") {
    World world;
    Reconciler patient(*world.pool.store, world.cloud,
                       {.identity = world.pool.identity, .who = "test"});
    const Gpu gpu = world.created_by("", {});
    patient.pass({});
    CHECK(world.pool.row(gpu).state == State::starting);
    CHECK(patient.next_pass() <= std::chrono::seconds(10));
  }
  SECTION("its creator lives and is still at it") {
    World world;
    const Gpu gpu = world.created_by(this_process(), std::chrono::minutes(1));
    world.pass();
    CHECK(world.pool.row(gpu).state == State::starting);
    CHECK(world.pool.row(gpu).intent.owner == this_process());
  }
  SECTION("its creator died: the settling time starts now") {
    World world;
    const Gpu gpu = world.created_by(dead_process(), std::chrono::hours(1));
    world.pass();
    CHECK(world.pool.row(gpu).state == State::starting);
    world.pass();
    CHECK(world.pool.row(gpu).state == State::failed);
  }
}

TEST_CASE("an instance that runs under a failed create is recorded before it is destroyed") {
  World world;
  Gpu gpu = world.created_by("", {});
  world.pass();
  REQUIRE(world.pool.row(gpu).state == State::failed);
  world.listed(gpu);  // it appears late
  world.pass();
  CHECK(world.pool.row(gpu).provider_id == "pod-x");
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.pool.store->ledger({}).size() == 1);
}

TEST_CASE("an instance that was created long after its row costs money from then on") {
  World world;
  const Gpu gpu = world.created_by("", {});
  Instance late = world.listed(gpu);
  late.age = Duration(0);
  late.age_sure = true;
  world.cloud.put(late);
  const TimePoint before = world.pool.store->now();
  CHECK(world.pass());
  REQUIRE(world.pool.store->ledger({}).size() == 1);
  CHECK(world.pool.store->ledger({})[0].from >= before);
  CHECK(before > gpu.created_at);
}

TEST_CASE("an orphan is adopted when it was observed twice") {
  World world;
  Gpu lost = new_gpu(world.pool.identity, Source::cloud);
  Instance old = world.listed(lost);
  old.age = std::chrono::hours(2);
  world.cloud.put(old);
  world.pass();
  CHECK(world.pool.store->view().gpus.empty());
  world.pass();
  const auto gpus = world.pool.store->view().gpus;
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].name == lost.name);
  CHECK(gpus[0].provider_id == "pod-x");
  CHECK(gpus[0].state == State::starting);
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 1);
  // As long as it was there, by the provider's word.
  CHECK(ledger[0].from <= world.pool.store->now() - std::chrono::hours(2));
}

TEST_CASE("an orphan that is younger than the grace time is left alone") {
  World world;
  Reconciler patient(*world.pool.store, world.cloud,
                     {.identity = world.pool.identity, .who = "test"});
  world.listed(new_gpu(world.pool.identity, Source::cloud));
  for (int i = 0; i < 3; ++i) patient.pass({});
  CHECK(world.pool.store->view().gpus.empty());
}

TEST_CASE("instances of other stores and of other people are never touched") {
  World world;
  const PoolIdentity other{"navtalk", "test", "ffffffff"};
  world.listed(new_gpu(other, Source::cloud));
  world.cloud.put({.provider_id = "pod-y", .name = "navtalk-testing-1", .status = Status::running});
  world.cloud.put({.provider_id = "pod-z", .name = "my notebook", .status = Status::running});
  for (int i = 0; i < 3; ++i) world.pass();
  CHECK(world.pool.store->view().gpus.empty());
  CHECK(world.cloud.calls(Operation::destroy) == 0);
}

TEST_CASE("a renamed pool keeps its instances, and finds those without a row") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  world.cloud.put(
      {.provider_id = "pod-1", .name = gpu.name, .status = Status::running, .usd_per_hour = 0.5});
  const Gpu lost = new_gpu(world.pool.identity, Source::cloud);
  world.cloud.put({.provider_id = "pod-2", .name = lost.name, .status = Status::running});
  // By its own name, the id of another store in it: not ours, whatever the pool is called.
  const PoolIdentity other{"talk", "stage", "ffffffff"};
  world.listed(new_gpu(other, Source::cloud));
  Reconciler renamed(*world.pool.store, world.cloud,
                     {.identity = pool_identity(*world.pool.store, "talk", "stage"),
                      .who = "test",
                      .orphan_grace = {},
                      .consistency_window = {}});
  for (int i = 0; i < 3; ++i) renamed.pass({});
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).usd_per_hour == 0.5);
  const auto gpus = world.pool.store->view().gpus;
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[1].provider_id == "pod-2");
  CHECK(gpus[1].name == lost.name);
}

TEST_CASE("a duplicate instance under one name gets a row of its own") {
  World world;
  const Gpu gpu = world.pool.pod(State::starting, "pod-1");
  world.cloud.put({.provider_id = "pod-1", .name = gpu.name, .status = Status::running});
  world.cloud.put(
      {.provider_id = "pod-2", .name = gpu.name, .status = Status::running, .usd_per_hour = 0.5});
  world.pass();
  world.pass();
  const auto gpus = world.pool.store->view().gpus;
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].provider_id == "pod-1");
  CHECK(gpus[1].provider_id == "pod-2");
  CHECK(gpus[1].name != gpu.name);
  CHECK(worker_name(gpus[1].name) == gpu.name);
  world.pass();
  CHECK(world.pool.store->view().gpus.size() == 2);
}

TEST_CASE("a recorded instance that two complete lists lack is gone") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  world.cloud.list_fails(true);
  for (int i = 0; i < 3; ++i) CHECK(!world.pass());
  CHECK(world.pool.row(gpu).state == State::idle);
  world.cloud.list_fails(false);
  world.pass();
  CHECK(world.pool.row(gpu).state == State::idle);
  world.pass();
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.pool.row(gpu).last_error == "gone: its provider neither lists it nor knows its id");
}

TEST_CASE("what one process observed counts for the next one too") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  world.cloud.put({.provider_id = "pod-9",
                   .name = world.pool.identity.own_prefix() + "lost",
                   .status = Status::running,
                   .usd_per_hour = 0.5});
  const auto pass = [&](Duration grace) {
    Reconciler fresh(*world.pool.store, world.cloud,
                     {.identity = world.pool.identity,
                      .who = "test",
                      .orphan_grace = grace,
                      .consistency_window = {}});
    fresh.pass({});
  };
  pass({});
  CHECK(world.pool.row(gpu).state == State::idle);
  world.cloud.list_fails(true);
  pass({});
  CHECK(world.pool.row(gpu).state == State::idle);
  world.cloud.list_fails(false);
  pass(std::chrono::hours(1));
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.pool.store->view().gpus.size() == 1);
  pass({});
  CHECK(world.pool.store->view().gpus.size() == 2);
  // What is settled is forgotten.
  CHECK(parse_observations(world.pool.store->setting("reconciler.cloud").value()) ==
        Observations{});
}

TEST_CASE("missing once, listed, missing once again is not a loss") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  world.pass();
  world.cloud.put(
      {.provider_id = "pod-1", .name = gpu.name, .status = Status::running, .usd_per_hour = 0.5});
  world.pass();
  world.cloud.lose("pod-1");
  world.pass();
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("the provider's report on an instance is compared with its row") {
  struct Case {
    State before;
    Status status;
    State after;
  };
  const auto seen = GENERATE(values<Case>({{State::idle, Status::stopped, State::failed},
                                           {State::idle, Status::failed, State::failed},
                                           {State::idle, Status::unknown, State::idle},
                                           {State::idle, Status::starting, State::idle},
                                           {State::starting, Status::stopped, State::failed},
                                           {State::starting, Status::running, State::starting},
                                           {State::paused, Status::stopped, State::paused},
                                           {State::paused, Status::running, State::starting},
                                           {State::paused, Status::unknown, State::paused},
                                           {State::failed, Status::running, State::failed}}));
  World world;
  const Gpu gpu = world.pool.pod(seen.before, "pod-1");
  world.cloud.put(
      {.provider_id = "pod-1", .name = gpu.name, .status = seen.status, .usd_per_hour = 0.5});
  world.pass();
  CHECK(world.pool.row(gpu).state == seen.after);
}

TEST_CASE("a new price closes one paid span and opens the next") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1", 0.4);
  world.cloud.put(
      {.provider_id = "pod-1", .name = gpu.name, .status = Status::running, .usd_per_hour = 0.6});
  world.pass();
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 2);
  CHECK(ledger[0].to.has_value() != ledger[1].to.has_value());
}

TEST_CASE(
    "places that were started in another way are replaced one by one, busy ones when they are "
    "empty") {
  World world;
  const Gpu first = world.pool.pod(State::idle, "pod-1"),
            second = world.pool.pod(State::idle, "pod-2");
  for (const Gpu& gpu : {first, second}) {
    Instance old = world.listed(gpu);
    old.outdated = "it was started with --slots 1, now with --slots 2";
    world.cloud.put(old);
  }
  const Lease lease = world.pool.claim("user").value();
  const Gpu &busy = lease.gpu == first.id ? first : second,
            &idle = lease.gpu == first.id ? second : first;
  world.pass();
  CHECK(world.pool.row(idle).intent.operation == Operation::destroy);
  world.pass();
  CHECK_FALSE(world.pool.row(busy).draining);  // the first one still ends
  world.cloud.lose(idle.provider_id);
  REQUIRE(world.pool.store->remove(idle.id, world.pool.row(idle).version, {"test", "gone"}));
  world.pass();
  world.pass();
  CHECK(world.pool.row(busy).draining);
  CHECK(world.pool.row(busy).intent.operation == Operation::none);
  REQUIRE(world.pool.store->release(lease.id, lease.epoch));
  world.pass();
  CHECK(world.pool.row(busy).intent.operation == Operation::destroy);
}

TEST_CASE("what is gone from the list costs nothing from then on") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  world.pass();
  CHECK(world.pool.row(gpu).usd_per_hour == 0.5);
  world.pass();
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.pool.row(gpu).usd_per_hour == 0);
  REQUIRE(world.pool.store->ledger({}).size() == 1);
  CHECK(world.pool.store->ledger({})[0].to);
}

TEST_CASE("an outdated GPU that is drained by an operator, dedicated or reserved is left alone") {
  World world;
  Gpu drained = world.pool.pod(State::idle, "pod-1");
  drained = world.pool.store
                ->change({.id = drained.id, .version = drained.version, .draining = true},
                         {"operator", "drain"})
                .value();
  Gpu own = new_gpu(world.pool.identity, Source::cloud);
  own.state = State::idle;
  own.provider_id = "pod-2";
  own.dedicated_to = {"acme"};
  own = world.pool.add(own);
  for (const Gpu& gpu : {drained, own}) {
    Instance old = world.listed(gpu);
    old.outdated = "its program was replaced";
    world.cloud.put(old);
  }
  world.pass();
  world.pass();
  CHECK(world.pool.row(drained).state == State::idle);
  CHECK(world.pool.row(own).state == State::idle);
}

TEST_CASE("a GPU that drains to be replaced takes sessions again when it need not be") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-1");
  REQUIRE(world.pool.claim("user"));
  Instance place = world.listed(gpu);
  place.outdated = "its program was replaced";
  world.cloud.put(place);
  world.pass();
  world.pass();
  REQUIRE(world.pool.row(gpu).draining);
  const bool drained = GENERATE(false, true);
  if (drained) drain_gpu(*world.pool.store, gpu.id.text, std::chrono::minutes(1), "operator");
  place.outdated.clear();
  world.cloud.put(place);
  world.pass();
  CHECK(world.pool.row(gpu).draining == drained);  // an operator's drain stays
}
