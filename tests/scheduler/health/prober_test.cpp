#include "scheduler/health/prober.h"

#include <catch2/catch.hpp>

#include "scheduler/pool/session_faults.h"
#include "tests/fakes/fake_worker.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr Duration k_long = std::chrono::seconds(20);

// A pool with one worker that answers as its script says.
struct World {
  SmallPool pool;
  FakeWorker worker;
  LoopbackServer server{[this](Connection& client, const ReceivedRequest& request) {
    worker.handle(client, request);
  }};
  Prober prober{*pool.store,
                {.who = "test",
                 .host = "here",
                 .starting_every = {},
                 .running_every = {},
                 .failed_every = {},
                 .grace = {},
                 .threads = 2}};

  Gpu put(Source source, State state) { return put(source, state, server.url()); }
  Gpu put(Source source, State state, const std::string& url) {
    Gpu gpu = new_gpu(pool.identity, source);
    gpu.state = state;
    gpu.host = "here";
    gpu.slots = 4;
    gpu.url = url;
    return pool.add(gpu);
  }
  // Another way to the same worker.
  std::string alias() const {
    return "http://localhost" + server.url().substr(server.url().rfind(':'));
  }
  void look(int times = 1, bool leading = true) {
    for (int i = 0; i < times; ++i) {
      prober.step(leading);
      REQUIRE(prober.wait_idle(k_long, {}));
    }
  }
};

}  // namespace

TEST_CASE("a starting GPU is ready after two answers, and its lead time is learnt") {
  World world;
  world.worker.set({.slots = 2});
  const Gpu gpu = world.put(Source::local, State::starting);
  world.look();
  CHECK(world.pool.row(gpu).state == State::starting);
  world.look();
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).slots == 2);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].operation == Operation::create);
  CHECK(attempts[0].result == Attempt::Result::ok);
}

TEST_CASE("a worker that is not healthy, or that no WebSocket reaches, proves nothing") {
  World world;
  const Gpu gpu = world.put(Source::local, State::starting);
  SECTION("503") { world.worker.set({.stuck = true}); }
  SECTION("a proxy's 502") { world.worker.set({.alive = false}); }
  SECTION("still loading") { world.worker.set({.state = "starting"}); }
  SECTION("no WebSocket") { world.worker.set({.broken_upgrade = true}); }
  world.look(4);
  CHECK(world.pool.row(gpu).state == State::starting);
}

TEST_CASE("a pod without a GPU is not ready") {
  World world;
  world.worker.set({.gpu = false});
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.look(3);
  CHECK(world.pool.row(pod).state == State::starting);
}

TEST_CASE("a GPU that stops answering fails after three misses, not after one") {
  World world;
  const Gpu gpu = world.put(Source::local, State::idle);
  world.look();
  CHECK(world.pool.row(gpu).seen_at > TimePoint{});
  world.worker.set({.alive = false});
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
  world.worker.set({});
  world.look();
  world.worker.set({.alive = false});
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
  world.look();
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(!world.pool.row(gpu).last_error.empty());
}

TEST_CASE("a registered GPU that failed comes back when it answers; others do not") {
  World world;
  const Gpu external = world.put(Source::external, State::failed);
  const Gpu pod = world.put(Source::cloud, State::failed, world.alias());
  world.look(3);
  CHECK(world.pool.row(external).state == State::idle);
  CHECK(world.pool.row(pod).state == State::failed);
}

TEST_CASE("local workers are asked by their own host, all others by the scaler's holder") {
  World world;
  Gpu theirs = new_gpu(world.pool.identity, Source::local);
  theirs.state = State::starting;
  theirs.host = "there";
  theirs.url = world.server.url();
  theirs = world.pool.add(theirs);
  const Gpu mine = world.put(Source::local, State::starting);
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.look(3, false);
  CHECK(world.pool.row(theirs).state == State::starting);
  CHECK(world.pool.row(mine).state == State::idle);
  CHECK(world.pool.row(pod).state == State::starting);
}

TEST_CASE("a dedicated GPU is asked like any other") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::external);
  gpu.dedicated_to = {"acme"};
  gpu.url = world.server.url();
  gpu = world.pool.add(gpu);
  world.look(2);
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("a starting GPU says what its worker answered last") {
  World world;
  const Gpu pod = world.put(Source::cloud, State::starting);
  world.worker.set({.alive = false});
  world.look();
  CHECK_THAT(world.pool.row(pod).last_error, Catch::Contains("502"));
  world.worker.set({.state = "starting"});
  world.look();
  CHECK_THAT(world.pool.row(pod).last_error, Catch::Contains("the worker is starting"));
  CHECK(world.pool.row(pod).state == State::starting);
  world.worker.set({});
  world.look(2);
  CHECK(world.pool.row(pod).last_error.empty());
}

TEST_CASE(
    "a worker that requires another token fails its GPU at once, and is recorded as an attempt") {
  World world;
  world.worker.set({.token = "another"});
  const Gpu pod = world.put(Source::cloud, State::starting);
  const Gpu external = world.put(Source::external, State::starting, world.alias());
  world.look(2);
  for (const Gpu& gpu : {pod, external}) {
    CHECK(world.pool.row(gpu).state == State::failed);
    CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("401"));
  }
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].gpu == pod.id);
  CHECK(attempts[0].result == Attempt::Result::failed);
}

TEST_CASE(
    "a registered GPU that does not answer fails soon, so that it does not count as coming "
    "supply") {
  World world;
  world.worker.set({.alive = false});
  const Gpu external = world.put(Source::external, State::starting);
  world.look(3);
  CHECK(world.pool.row(external).state == State::failed);

  world.worker.set({.state = "starting"});
  const Gpu loading = world.put(Source::external, State::starting, world.alias());
  world.look(4);
  CHECK(world.pool.row(loading).state == State::starting);
}

TEST_CASE("an invalid URL is the row's error") {
  World world;
  Gpu gpu = new_gpu(world.pool.identity, Source::external);
  gpu.url = "nonsense";
  gpu = world.pool.add(gpu);
  world.look();
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("URL"));
}

TEST_CASE("misses count on in the next process") {
  World world;
  const Gpu gpu = world.put(Source::cloud, State::idle);
  world.worker.set({.alive = false});
  for (int i = 0; i < 3; ++i) {
    CHECK(world.pool.row(gpu).state == State::idle);
    Prober fresh(*world.pool.store, {.who = "test", .grace = {}, .threads = 1});
    fresh.step(true);
    REQUIRE(fresh.wait_idle(k_long, {}));
  }
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("starting workers that do not answer delay no probe of a serving one") {
  World world;
  const LoopbackServer silent([](Connection& client, const ReceivedRequest&) { client.hold(); });
  for (int i = 0; i < 6; ++i) {
    Gpu dead = new_gpu(world.pool.identity, Source::cloud);
    dead.url = silent.url();
    world.pool.add(dead);
  }
  const Gpu serving = world.put(Source::cloud, State::idle);
  world.prober.step(true);
  CHECK_FALSE(world.prober.wait_idle(std::chrono::seconds(1), {}));
  CHECK(world.pool.row(serving).seen_at > TimePoint{});
}

TEST_CASE("a duplicate row of one worker never becomes ready, and names the other row") {
  World world;
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
  World world;
  world.worker.set({.instance = "one"});
  const Gpu external = world.put(Source::external, State::idle, world.alias());
  const Gpu local = world.put(Source::local, State::starting);
  world.look(4);
  CHECK(world.pool.row(local).state == State::idle);
  CHECK(world.pool.row(external).state == State::failed);
  CHECK_THAT(world.pool.row(external).last_error, Catch::Contains(local.id.text));
}

TEST_CASE("two rows of one worker that both serve become one, the elder") {
  World world;
  world.worker.set({.instance = "one"});
  const Gpu first = world.put(Source::external, State::idle);
  const Gpu second = world.put(Source::external, State::idle, world.alias());
  world.look(3);
  CHECK(world.pool.row(first).state == State::idle);
  CHECK(world.pool.row(second).state == State::failed);
}

TEST_CASE("a restarted worker is recognised before a duplicate row of it is ready") {
  World world;
  world.worker.set({.instance = "one"});
  const Gpu first = world.put(Source::external, State::idle);
  // A gateway that asks those who serve less often than those who start, as usual.
  ProberOptions usual{.who = "test", .starting_every = {}, .grace = {}, .threads = 1};
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
  World world;
  const LoopbackServer dead([](Connection& client, const ReceivedRequest&) { client.close(); });
  const Gpu silent = world.put(Source::external, State::idle, dead.url());
  const Gpu other = world.put(Source::external, State::starting);
  world.look(6);
  CHECK(world.pool.row(silent).state == State::failed);
  CHECK(world.pool.row(other).state == State::idle);
}

TEST_CASE("a new process makes no duplicate row ready before all serving workers answered") {
  World world;
  world.worker.set({.instance = "one"});
  const Gpu silent = world.put(Source::external, State::starting);
  world.look(2);
  REQUIRE(world.pool.row(silent).state == State::idle);
  const Gpu second = world.put(Source::external, State::starting, world.alias());
  for (int i = 0; i < 4; ++i) {
    Prober fresh(*world.pool.store,
                 {.who = "test", .starting_every = {}, .running_every = {}, .threads = 1});
    for (int j = 0; j < 2; ++j) {
      fresh.step(true);
      REQUIRE(fresh.wait_idle(k_long, {}));
    }
    CHECK(world.pool.row(second).state != State::idle);
  }
  CHECK(world.pool.row(silent).state == State::idle);
}

TEST_CASE("a registered GPU that is blamed for its sessions does not come back for a good answer") {
  World world;
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
