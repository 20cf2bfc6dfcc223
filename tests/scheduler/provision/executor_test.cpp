#include "scheduler/provision/executor/executor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <latch>
#include <stdexcept>

#include "scheduler/provision/operator_actions.h"
#include "scheduler/provision/supply.h"
#include "tests/scheduler/provision/executor_world.h"

using namespace navtalk;
using namespace navtalk::tests;
using World = ExecutorWorld;

TEST_CASE("a create stores what the provider made and leaves the row starting") {
  World world;
  const Gpu gpu = world.pool.wanting(Source::cloud, Operation::create);
  world.settle();
  const Gpu row = world.pool.row(gpu);
  CHECK(row.state == State::starting);
  CHECK(row.provider_id == "pod-1");
  CHECK(row.url == "http://127.0.0.1:9/1");
  CHECK(row.usd_per_hour == 0.5);
  CHECK(row.intent.operation == Operation::none);
  world.settle();
  CHECK(world.cloud.calls(Operation::create) == 1);
}

TEST_CASE("the intent says that the provider may have been called before it is called") {
  World world;
  const Gpu gpu = world.pool.wanting(Source::cloud, Operation::create);
  std::optional<Gpu> seen;
  world.cloud.during([&](Operation) { seen = world.pool.row(gpu); });
  world.settle();
  REQUIRE(seen);
  CHECK(seen->intent.called);
  CHECK(seen->intent.owner == this_process());
}

TEST_CASE("a create that may have been called is never called again") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.intent = {
      .operation = Operation::create, .number = 1, .owner = "", .called = true, .tries = 1};
  world.pool.add(gpu);
  world.settle();
  CHECK(world.cloud.calls(Operation::create) == 0);

  const Gpu unclear = world.pool.wanting(Source::cloud, Operation::create);
  world.cloud.answer(Operation::create, {UnknownOutcome{"no answer in time"}, true});
  world.settle();
  world.settle();
  CHECK(world.cloud.calls(Operation::create) == 1);
  const Gpu row = world.pool.row(unclear);
  CHECK(row.state == State::starting);
  CHECK(row.intent.called);
  CHECK(row.last_error == "no answer in time");
}

TEST_CASE("a create or wake that fails fails the row, and is recorded as an attempt") {
  struct Case {
    Operation operation;
    Outcome outcome;
    Attempt::Result result;
  };
  const auto tried = GENERATE(
      values<Case>({{Operation::create, NoCapacity{"none left"}, Attempt::Result::no_capacity},
                    {Operation::create, Failure{"broke"}, Attempt::Result::failed},
                    {Operation::create, Refused{"bad image"}, Attempt::Result::refused},
                    {Operation::wake, NoCapacity{"the host is full"}, Attempt::Result::no_capacity},
                    {Operation::wake, Failure{"broke"}, Attempt::Result::failed}}));
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  if (tried.operation == Operation::wake) gpu.provider_id = "pod-9";
  const Gpu row = world.pool.wanting(Source::cloud, tried.operation, gpu);
  world.cloud.answer(tried.operation, {tried.outcome});
  world.settle();
  CHECK(world.pool.row(row).state == State::failed);
  CHECK(!world.pool.row(row).last_error.empty());
  CHECK(world.failures == 1);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].operation == tried.operation);
  CHECK(attempts[0].result == tried.result);
}

TEST_CASE("a refused create costs nothing, and its row is removed without a list") {
  const Outcome refusal =
      GENERATE(Outcome(NoCapacity{"none left"}), Outcome(Refused{"bad key", true}));
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.usd_per_hour = 1;
  gpu = world.pool.wanting(Source::cloud, Operation::create, gpu);
  world.cloud.answer(Operation::create, {refusal});
  world.settle();
  CHECK(world.pool.row(gpu).usd_per_hour == 0);
  world.cloud.list_fails(true);
  remove_gpu(*world.pool.store, gpu.id.text, "test");
  world.settle();
  CHECK_FALSE(world.pool.store->find(gpu.id));
}

TEST_CASE("an instance that may exist keeps its price, and its row waits for a complete list") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.usd_per_hour = 1;
  gpu = world.pool.wanting(Source::cloud, Operation::create, gpu);
  world.cloud.answer(Operation::create, {Failure{"broke"}});
  world.settle();
  CHECK(world.pool.row(gpu).usd_per_hour == 1);
  world.cloud.list_fails(true);
  remove_gpu(*world.pool.store, gpu.id.text, "test");
  world.settle();
  CHECK(world.pool.store->find(gpu.id));
}

TEST_CASE(
    "a young instance that its provider does not know is removed after the consistency window") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-a";
  gpu.state = State::stopping;
  const bool old = GENERATE(true, false);
  gpu.created_at = world.pool.store->now() - std::chrono::minutes(old ? 11 : 5);
  gpu = world.pool.wanting(Source::cloud, Operation::destroy, gpu);
  const auto try_once = [&](Duration window) {
    Executor fresh(*world.pool.store, {&world.cloud},
                   {.owner = this_process(), .consistency_window = window, .threads = 1}, {});
    world.cloud.answer(Operation::destroy, {Done{.unknown = true}});
    fresh.step();
    REQUIRE(fresh.wait_idle(k_long, {}));
    const std::optional<Gpu> row = world.pool.store->find(gpu.id);
    if (!row) return false;
    Intent intent = row->intent;  // its pause is over
    intent.until = {};
    world.pool.store->change({.id = row->id, .version = row->version, .intent = intent},
                             {"test", "now"});
    return true;
  };
  CHECK(try_once(std::chrono::hours(1)) != old);
  if (old) return;
  CHECK(try_once(std::chrono::hours(1)));
  CHECK_FALSE(try_once(std::chrono::minutes(1)));  // counted from its create
}

TEST_CASE("a paused pod keeps its price, for the cap when it is woken") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.state = State::stopping;
  gpu.provider_id = "pod-a";
  gpu.usd_per_hour = 0.5;
  world.cloud.put({.provider_id = "pod-a", .name = gpu.name, .usd_per_hour = 0});
  gpu = world.pool.wanting(Source::cloud, Operation::pause, gpu);
  world.settle();
  CHECK(world.pool.row(gpu).state == State::paused);
  CHECK(world.pool.row(gpu).usd_per_hour == 0.5);
}

TEST_CASE("a refusal of the account pauses creation in the whole pool") {
  World world;
  world.pool.wanting(Source::cloud, Operation::create);
  world.cloud.answer(Operation::create, {Refused{"no balance", true}});
  world.settle();
  const auto pause = creation_pause(*world.pool.store);
  REQUIRE(pause);
  CHECK(pause->why == "no balance");
}

TEST_CASE("a pause that is done pauses the row, one that fails fails it") {
  World world;
  for (const bool fails : {false, true}) {
    Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
    gpu.state = State::stopping;
    gpu.provider_id = fails ? "pod-b" : "pod-a";
    world.cloud.put({.provider_id = gpu.provider_id, .name = gpu.name});
    const Gpu row = world.pool.wanting(Source::cloud, Operation::pause, gpu);
    if (fails) world.cloud.answer(Operation::pause, {Failure{"locked"}});
    world.settle();
    CHECK(world.pool.row(row).state == (fails ? State::failed : State::paused));
  }
}

TEST_CASE(
    "an intent of a dead executor of this host is taken over at once, a living one's is not") {
  World world;
  const auto held_by = [&](const std::string& owner) {
    Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
    gpu.state = State::starting;
    gpu.provider_id = "pod-" + owner.substr(0, 1);
    gpu.intent = {.operation = Operation::wake,
                  .number = 1,
                  .owner = owner,
                  .until = world.pool.store->now() + std::chrono::hours(1),
                  .called = true};
    world.cloud.put({.provider_id = gpu.provider_id, .name = gpu.name});
    return world.pool.add(gpu);
  };
  // The init process lives as long as the machine; no process has such a number.
  const Gpu dead = held_by(dead_process());
  const Gpu elsewhere = held_by("another-host/99999999/1");
  world.settle();
  CHECK(world.pool.row(dead).intent.operation == Operation::none);
  CHECK(world.pool.row(elsewhere).intent.operation == Operation::wake);
}

TEST_CASE("local rows are carried out by their own host only") {
  SmallPool pool;
  ScriptedProvider local(Source::local);
  Executor executor(*pool.store, {&local}, {.owner = this_process(), .host = "here", .threads = 1},
                    [] {});
  Gpu mine = new_gpu(pool.identity, Source::local);
  mine.host = "here";
  Gpu theirs = new_gpu(pool.identity, Source::local);
  theirs.host = "there";
  mine = pool.wanting(Source::local, Operation::create, mine);
  theirs = pool.wanting(Source::local, Operation::create, theirs);
  executor.step();
  REQUIRE(executor.wait_idle(k_long, {}));
  CHECK(pool.row(mine).provider_id == "pod-1");
  CHECK(pool.row(theirs).provider_id.empty());
}

TEST_CASE(
    "workers are made on the devices of one's own settings only, and ended on all of the host") {
  SmallPool pool;
  ScriptedProvider local(Source::local);
  Executor executor(
      *pool.store, {&local},
      {.owner = this_process(), .host = "here", .devices = std::vector<std::string>{"cpu"}}, [] {});
  const auto on = [&](const std::string& device, Operation operation) {
    Gpu gpu = new_gpu(pool.identity, Source::local);
    gpu.host = "here";
    gpu.device = device;
    if (operation == Operation::destroy) gpu.state = State::stopping;
    return pool.wanting(Source::local, operation, gpu);
  };
  const Gpu ours = on("cpu", Operation::create);
  const Gpu others = on("cuda:0", Operation::create);
  Gpu ending = on("cuda:1", Operation::destroy);
  executor.step();
  REQUIRE(executor.wait_idle(k_long, {}));
  CHECK_FALSE(pool.row(ours).provider_id.empty());
  CHECK(pool.row(others).provider_id.empty());
  CHECK_FALSE(pool.store->find(ending.id));
}

TEST_CASE("many executors on one store carry out each intent once") {
  SmallPool pool;
  ScriptedProvider cloud(Source::cloud);
  std::vector<std::unique_ptr<Executor>> executors;
  for (int i = 0; i < 4; ++i) {
    executors.push_back(std::make_unique<Executor>(
        *pool.store, std::vector<Provider*>{&cloud},
        ExecutorOptions{.owner = "process-" + std::to_string(i), .threads = 2}, [] {}));
  }
  constexpr int wanted = 20;
  for (int i = 0; i < wanted; ++i) pool.wanting(Source::cloud, Operation::create);
  for (const auto& executor : executors) executor->step();
  for (const auto& executor : executors) REQUIRE(executor->wait_idle(k_long, {}));
  CHECK(cloud.calls(Operation::create) == wanted);
  for (const Gpu& gpu : pool.store->view().gpus) CHECK(!gpu.provider_id.empty());
}

TEST_CASE("an outcome that comes after the intent was taken over changes nothing") {
  World world;
  const Gpu gpu = world.pool.wanting(Source::cloud, Operation::create);
  world.cloud.during([&](Operation operation) {
    if (operation != Operation::create) return;
    const Gpu row = world.pool.row(gpu);
    Intent intent = row.intent;
    intent.owner = "another";
    world.pool.store->change({.id = row.id, .version = row.version, .intent = intent},
                             {"another", "took over"});
  });
  world.settle();
  CHECK(world.pool.row(gpu).provider_id.empty());
  CHECK(world.pool.row(gpu).intent.owner == "another");
}

TEST_CASE("the provider's id is stored although the row changed during the call") {
  World world;
  const Gpu gpu = world.pool.wanting(Source::cloud, Operation::create);
  world.cloud.during([&](Operation) {
    const Gpu row = world.pool.row(gpu);
    world.pool.store->change({.id = row.id, .version = row.version, .draining = true},
                             {"operator", "drain"});
  });
  world.settle();
  CHECK(world.pool.row(gpu).provider_id == "pod-1");
  CHECK(world.pool.row(gpu).draining);
}

TEST_CASE("a provider that throws ends neither the executor nor the intent") {
  World world;
  const Gpu gpu = world.pool.wanting(Source::cloud, Operation::create);
  world.cloud.during([](Operation) { throw std::runtime_error("a fault of ours"); });
  world.settle();
  CHECK(world.pool.row(gpu).intent.called);
  world.cloud.during([](Operation) {});
  const Gpu next = world.pool.wanting(Source::cloud, Operation::create);
  world.settle();
  CHECK(!world.pool.row(next).provider_id.empty());
}
