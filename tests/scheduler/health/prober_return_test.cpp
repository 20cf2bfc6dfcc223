// Failed GPUs that answer again: which of them come back.
#include <atomic>
#include <catch2/catch.hpp>

#include "scheduler/pool/faults/session_faults.h"
#include "tests/scheduler/health/probed_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a GPU that failed for its silence comes back when it answers, with its sessions") {
  ProbedPool world;
  const Source source = GENERATE(Source::local, Source::cloud);
  const Gpu gpu = world.put(source, State::idle);
  const AnsweringPod beside(world);
  world.look();
  const Lease before = world.pool.claim("before").value();
  world.worker.set({.alive = false});
  world.look(3);
  REQUIRE(world.pool.row(gpu).state == State::failed);
  world.look();
  world.worker.set({.slots = 4});
  world.look();
  CHECK(world.pool.row(gpu).state == State::failed);  // one answer proves nothing
  world.look();
  CHECK(world.pool.row(gpu).state == State::running);
  CHECK(world.pool.row(gpu).misses == 0);
  CHECK(world.pool.row(gpu).last_error.empty());
  const Lease after = world.pool.claim("after").value();
  CHECK(after.gpu == before.gpu);
  CHECK(after.slot != before.slot);
  CHECK(after.epoch > before.epoch);
  REQUIRE(world.pool.store->release(before.id, before.epoch));
  REQUIRE(world.pool.store->release(after.id, after.epoch));
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE(
    "a failed GPU has been asked after three bad answers, also while the next probe is under way") {
  ProbedPool world({.timeout = std::chrono::minutes(10)});
  std::atomic<bool> holds = false;
  const LoopbackServer silent([&](Connection& client, const ReceivedRequest& request) {
    if (world.worker.script().alive) return world.worker.handle(client, request);
    holds ? client.hold() : client.close();
  });
  const Gpu gpu = world.put(Source::local, State::idle, silent.url());
  world.look();
  world.worker.set({.alive = false});
  world.look(3);
  REQUIRE(may_return(world.pool.row(gpu)));
  CHECK(world.prober.has_asked(world.pool.row(gpu)));
  holds = true;
  world.prober.step(true);
  REQUIRE_FALSE(world.prober.wait_idle(std::chrono::milliseconds(50), {}));
  CHECK(world.prober.has_asked(world.pool.row(gpu)));
}

TEST_CASE("a failed GPU that is about to return has not been asked for long enough") {
  ProbedPool world({.timeout = std::chrono::minutes(10)});
  std::atomic<bool> upgrades = false;
  const LoopbackServer stuck([&](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/healthz") return world.worker.handle(client, request);
    upgrades = true;
    client.hold();
  });
  const Gpu gpu = world.put(Source::local, State::idle, stuck.url());
  world.look();
  world.worker.set({.alive = false});
  world.look(4);
  REQUIRE(world.prober.has_asked(world.pool.row(gpu)));
  world.worker.set({});
  const auto until = std::chrono::steady_clock::now() + k_long;
  while (!upgrades && std::chrono::steady_clock::now() < until) {
    world.prober.step(true);
    world.prober.wait_idle(std::chrono::milliseconds(10), {});
  }
  REQUIRE(upgrades);
  CHECK_FALSE(world.prober.has_asked(world.pool.row(gpu)));
}

TEST_CASE("a GPU that failed for its silence, and is to be destroyed, does not come back") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::cloud, State::idle);
  const AnsweringPod beside(world);
  world.look();
  world.worker.set({.alive = false});
  world.look(3);
  const Gpu failed = world.pool.row(gpu);
  REQUIRE(failed.state == State::failed);
  world.worker.set({});
  world.look();
  const Intent destroy = next_intent(failed, Operation::destroy, world.pool.store->now());
  REQUIRE(world.pool.store->change(
      {.id = failed.id, .version = failed.version, .event = Event::destroy, .intent = destroy},
      {"scaler", "its hold is over"}));
  world.look(3);
  CHECK(world.pool.row(gpu).state == State::stopping);
  CHECK(world.pool.row(gpu).intent == destroy);
}

TEST_CASE("a GPU that failed for another reason than its silence does not come back") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::local, State::idle);
  world.look();
  const Gpu row = world.pool.row(gpu);
  REQUIRE(world.pool.store->change({.id = row.id, .version = row.version, .event = Event::fail},
                                   {"test", "its worker ended"}));
  world.look(4);
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("no registered row takes the worker of a pod that failed and may come back") {
  ProbedPool world;
  world.worker.set({.instance = "one"});
  const Gpu pod = world.put(Source::cloud, State::idle);
  const AnsweringPod beside(world);
  world.look();
  world.worker.set({.alive = false});
  world.look(3);
  REQUIRE(world.pool.row(pod).state == State::failed);
  const Gpu external = world.put(Source::external, State::starting, world.alias());
  world.worker.set({.instance = "one"});
  world.look(3);
  CHECK(world.pool.row(pod).state == State::idle);
  CHECK_FALSE(world.pool.row(external).serving());
}

TEST_CASE("a registered GPU that is blamed for its sessions does not come back for a good answer") {
  ProbedPool world;
  const Gpu gpu = world.put(Source::external, State::failed);
  SessionFaults faults;
  for (const int seconds : {20, 10, 1}) {
    faults.add({.gpu = gpu.id,
                .client = "a",
                .kind = SessionFault::Kind::declined,
                .at = world.pool.store->now() - std::chrono::seconds(seconds)});
  }
  k_session_faults.write(*world.pool.store, faults);
  world.look(4);
  CHECK(world.pool.row(gpu).state == State::failed);
  k_session_faults.write(*world.pool.store, {});
  world.look(4);
  CHECK(world.pool.row(gpu).state == State::idle);
}
