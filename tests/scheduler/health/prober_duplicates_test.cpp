// Rows that lead to one worker: which of them counts.
#include <catch2/catch.hpp>

#include "scheduler/health/prober.h"
#include "tests/scheduler/health/probed_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a duplicate row of one worker never becomes ready, and names the other row") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu first = world.put(Source::external, State::starting);
  const bool later = GENERATE(true, false);
  if (later) world.look(3);
  const Gpu second = world.put(Source::external, State::starting, world.alias());
  for (int i = 0; i < 5; ++i) {
    world.look();
    CHECK(world.pool.row(second).state != State::idle);
  }
  CHECK(world.pool.row(first).state == State::idle);
  CHECK(world.pool.row(second).state == State::failed);
  CHECK_THAT(world.pool.row(second).last_error, Catch::Contains(first.id.text));
  // It is the only one once the other is gone.
  const Gpu gone = world.pool.row(first);
  REQUIRE(world.pool.store->remove(gone.id, gone.version, {"test", "removed"}));
  world.look(3);
  CHECK(world.pool.row(second).state == State::idle);
  CHECK(world.pool.row(second).last_error.empty());
}

TEST_CASE("a registered row of one of the pool's own workers is the duplicate") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu external = world.put(Source::external, State::idle, world.alias());
  const Gpu local = world.put(Source::local, State::starting);
  world.look(4);
  CHECK(world.pool.row(local).state == State::idle);
  CHECK(world.pool.row(external).state == State::failed);
  CHECK_THAT(world.pool.row(external).last_error, Catch::Contains(local.id.text));
}

TEST_CASE("two rows of one worker that both serve become one, the elder") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu first = world.put(Source::external, State::idle);
  const Gpu second = world.put(Source::external, State::idle, world.alias());
  world.look(3);
  CHECK(world.pool.row(first).state == State::idle);
  CHECK(world.pool.row(second).state == State::failed);
}

TEST_CASE("a restarted worker is recognised before a duplicate row of it is ready") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu first = world.put(Source::external, State::idle);
  // A gateway that asks those who serve less often than those who start, as usual.
  ProberOptions usual{.who = "test", .starting_every = {}, .record_every = {}, .grace = {}};
  SECTION("by a gateway that knows the old one") {}
  SECTION("by one that was restarted as well, while the worker did not answer") {
    world.worker.set({.alive = false});
  }
  Prober prober(*world.pool.store, usual);
  const auto look = [&] {
    prober.step(true);
    REQUIRE(prober.wait_idle(k_long, {}));
  };
  look();
  world.worker.set({.instance = "two"});
  const Gpu second = world.put(Source::external, State::starting, world.alias());
  for (int i = 0; i < 6; ++i) {
    look();
    CHECK(world.pool.row(second).state != State::idle);
  }
  CHECK(world.pool.row(first).state == State::idle);
}

TEST_CASE("a registered worker does not wait forever for one that serves no more") {
  ProbedPool world;
  const LoopbackServer dead([](Connection& client, const ReceivedRequest&) { client.close(); });
  const Gpu silent = world.put(Source::external, State::idle, dead.url());
  const Gpu other = world.put(Source::external, State::starting);
  world.look(6);
  CHECK(world.pool.row(silent).state == State::failed);
  CHECK(world.pool.row(other).state == State::idle);
}

TEST_CASE("a new process makes no duplicate row ready before all serving workers answered") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu silent = world.put(Source::external, State::starting);
  world.look(2);
  REQUIRE(world.pool.row(silent).state == State::idle);
  const Gpu second = world.put(Source::external, State::starting, world.alias());
  for (int i = 0; i < 4; ++i) {
    Prober fresh(*world.pool.store,
                 {.who = "test", .starting_every = {}, .running_every = {}, .record_every = {}});
    for (int j = 0; j < 2; ++j) {
      fresh.step(true);
      REQUIRE(fresh.wait_idle(k_long, {}));
    }
    CHECK(world.pool.row(second).state != State::idle);
  }
  CHECK(world.pool.row(silent).state == State::idle);
}
