// How the executor destroys: a row goes only when its instance is known to be gone.
#include <catch2/catch.hpp>

#include "tests/scheduler/provision/executor_world.h"

using namespace navtalk;
using namespace navtalk::tests;
using World = ExecutorWorld;

TEST_CASE("a destroyed row is removed only when its provider does not know its id") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.state = State::stopping;
  gpu.provider_id = "pod-a";
  world.cloud.put({.provider_id = "pod-a", .name = gpu.name});
  const Gpu row = world.pool.wanting(Source::cloud, Operation::destroy, gpu);

  SECTION("no answer proves nothing") {
    world.cloud.mute({"pod-a"});
    world.settle();
    CHECK(world.pool.row(row).last_error == "cannot see whether it is gone: no answer");
  }
  SECTION("what the provider refuses is tried again") {
    world.cloud.answer(Operation::destroy, {Failure{"locked"}});
    world.settle();
    CHECK(world.pool.row(row).state == State::stopping);
    CHECK(world.pool.row(row).intent.operation == Operation::destroy);
    CHECK(world.pool.row(row).intent.until > world.pool.store->now());
  }
  SECTION("a list that lacks it proves nothing") {
    world.cloud.answer(Operation::destroy, {Done{}});
    world.cloud.unlist({"pod-a"});
    world.settle();
    CHECK(world.pool.row(row).state == State::stopping);
    CHECK_THAT(world.pool.row(row).last_error, Catch::StartsWith("still there"));
  }
  SECTION("done and not found, whether lists come or not: removed") {
    world.cloud.list_fails(true);
    world.settle();
    CHECK(!world.pool.store->find(row.id));
    CHECK(world.cloud.instances().empty());
  }
}

TEST_CASE("a row without an id is destroyed by its name, and its instance is in the ledger") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.state = State::stopping;
  gpu.usd_per_hour = 0.5;
  world.cloud.put({.provider_id = "pod-lost", .name = gpu.name, .usd_per_hour = 0.5});
  const Gpu row = world.pool.wanting(Source::cloud, Operation::destroy, gpu);
  world.settle();
  CHECK(world.cloud.instances().empty());
  CHECK(!world.pool.store->find(row.id));
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 1);
  CHECK(ledger[0].provider_id == "pod-lost");
  CHECK(ledger[0].from == row.created_at);
  CHECK(ledger[0].to.has_value());
}

TEST_CASE(
    "what is found by its name is paid for from its own making where the provider's clock says "
    "it") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.state = State::stopping;
  gpu.usd_per_hour = 0.5;
  const bool sure = GENERATE(true, false);
  const Duration age = GENERATE(Duration(0), Duration(std::chrono::hours(1)));
  const Gpu row = world.pool.wanting(Source::cloud, Operation::destroy, gpu);
  world.cloud.put({.provider_id = "pod-lost",
                   .name = gpu.name,
                   .usd_per_hour = 0.5,
                   .age = age,
                   .age_sure = sure});
  const TimePoint before = world.pool.store->now();
  world.settle();
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 1);
  // Nothing was made before its row; and a clock that may be wrong shortens nothing.
  const bool young = sure && age == Duration(0);
  CHECK((ledger[0].from >= before) == young);
  if (!young) CHECK(ledger[0].from == row.created_at);
}
