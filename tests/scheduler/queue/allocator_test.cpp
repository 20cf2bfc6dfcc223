#include "scheduler/queue/allocator.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

struct World {
  SmallPool pool;
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test"}};
  DemandTracker demand_tracker{*pool.store};
  Allocator allocator;
  int port = 9;  // of the next idle GPU's worker

  explicit World(AllocatorOptions options = {})
      : allocator(*pool.store, supply, demand_tracker, named(std::move(options))) {}
  static AllocatorOptions named(AllocatorOptions options) {
    options.gateway = "gateway";
    options.host = "here";
    return options;
  }
  void host(std::vector<std::string> devices) {
    register_host(*pool.store, {.name = "here", .devices = std::move(devices)},
                  std::chrono::minutes(1));
  }
  Gpu idle(int slots = 1) {
    Gpu gpu = new_gpu(pool.identity, Source::external);
    gpu.state = State::idle;
    gpu.url = "http://127.0.0.1:" + std::to_string(port++);
    gpu.slots = slots;
    return pool.add(gpu);
  }
  std::vector<Gpu> in_state(State state) {
    std::vector<Gpu> gpus = pool.store->view().gpus;
    std::erase_if(gpus, [&](const Gpu& gpu) { return gpu.state != state; });
    return gpus;
  }
};

Claimant user(const std::string& id) { return {.id = {id}}; }

}  // namespace

TEST_CASE("a user who finds an idle GPU gets a lease at once") {
  World world;
  const Gpu gpu = world.idle();
  const Allocation answer = world.allocator.arrive(user("a"));
  REQUIRE(std::holds_alternative<Lease>(answer));
  CHECK(std::get<Lease>(answer).gpu == gpu.id);
  CHECK(std::get<Lease>(answer).url == "http://127.0.0.1:9");
}

TEST_CASE("a user without a slot waits, and a GPU is provisioned") {
  World world;
  world.host({"cpu"});
  const Allocation answer = world.allocator.arrive(user("a"));
  REQUIRE(std::holds_alternative<Waiting>(answer));
  CHECK(std::get<Waiting>(answer).position == 1);
  CHECK(std::get<Waiting>(answer).eta);
  const auto starting = world.in_state(State::starting);
  REQUIRE(starting.size() == 1);
  CHECK(starting[0].intent.operation == Operation::create);
  CHECK(starting[0].reserved_for == WaiterId{"a"});
}

TEST_CASE("waiters see their position fall as others leave, and are served in order") {
  World world;
  for (const char* name : {"a", "b", "c"}) world.allocator.arrive(user(name));
  CHECK(std::get<Waiting>(world.allocator.check(user("c"))).position == 3);
  world.allocator.leave({"a"});
  world.idle();
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("c"))));
  CHECK(std::holds_alternative<Lease>(world.allocator.check(user("b"))));
}

TEST_CASE("a full queue, or none, refuses and says when to retry") {
  World none({.queue_limit = 0});
  const Allocation refused = none.allocator.arrive(user("a"));
  REQUIRE(std::holds_alternative<NoGpu>(refused));
  CHECK(std::get<NoGpu>(refused).message == "no GPU is available");
  CHECK(std::get<NoGpu>(refused).retry_after > Duration{});

  World one({.queue_limit = 1});
  one.allocator.arrive(user("a"));
  CHECK(std::get<NoGpu>(one.allocator.arrive(user("b"))).message ==
        "no GPU is available and the queue is full");
  CHECK(one.pool.store->view().waiters.size() == 1);
}

TEST_CASE("without a queue a GPU is provisioned all the same, for the next user") {
  World world({.queue_limit = 0});
  world.host({"cpu"});
  world.allocator.arrive(user("a"));
  CHECK(world.in_state(State::starting).size() == 1);
}

TEST_CASE("a user who waited too long is refused, and leaves the queue") {
  World world({.queue_timeout = {}});
  const Allocation answer = world.allocator.arrive(user("a"));
  REQUIRE(std::holds_alternative<NoGpu>(answer));
  CHECK(std::get<NoGpu>(answer).message == "no GPU became available in time");
  CHECK(world.pool.store->view().waiters.empty());
}

TEST_CASE("a worker that does not take the session fails its GPU, and the user goes on elsewhere") {
  World world;
  world.host({"cpu"});
  const Gpu first = world.idle();
  const auto lease = std::get<Lease>(world.allocator.arrive(user("a")));
  REQUIRE(lease.gpu == first.id);
  world.allocator.connect_failed(lease, "connection refused");
  CHECK(world.pool.row(first).state == State::failed);
  CHECK(world.pool.row(first).last_error == "connection refused");
  CHECK(world.pool.row(first).sessions == 0);
  // A replacement is on its way, and the user counts once.
  CHECK(world.in_state(State::starting).size() == 1);
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("a"))));
  const Gpu second = world.idle();
  CHECK(std::get<Lease>(world.allocator.check(user("a"))).gpu == second.id);
  std::int64_t arrivals = 0;
  for (const DemandBucket& bucket : world.pool.store->demand({})) arrivals += bucket.arrivals;
  CHECK(arrivals == 1);
}

TEST_CASE("a gateway whose lease expired cannot fail the GPU") {
  World world;
  const Gpu gpu = world.idle();
  const auto old = std::get<Lease>(world.allocator.arrive(user("a")));
  REQUIRE(world.pool.store->release(old.id, old.epoch));
  const auto lease = std::get<Lease>(world.allocator.arrive(user("b")));
  REQUIRE(lease.gpu == gpu.id);
  world.allocator.connect_failed(old, "a newer session took this slot");
  CHECK(world.pool.row(gpu).state == State::running);
  CHECK(world.pool.row(gpu).sessions == 1);
}

TEST_CASE("after a connect the next GPU is prepared, unless a slot is free already") {
  World world;
  world.host({"cpu"});
  world.idle(2);
  world.allocator.connected(std::get<Lease>(world.allocator.arrive(user("a"))));
  CHECK(world.in_state(State::starting).empty());
  world.allocator.connected(std::get<Lease>(world.allocator.arrive(user("b"))));
  CHECK(world.in_state(State::starting).size() == 1);
}

TEST_CASE("a lost worker fails its GPU; a paused one is not failed by a late report") {
  World world;
  const Gpu gpu = world.idle();
  const auto lease = std::get<Lease>(world.allocator.arrive(user("a")));
  world.allocator.worker_lost(lease, "broken pipe");
  CHECK(world.pool.row(gpu).state == State::failed);
  world.allocator.worker_lost(lease, "again");
  CHECK(world.pool.row(gpu).last_error == "broken pipe");

  Gpu paused = new_gpu(world.pool.identity, Source::external);
  paused.state = State::paused;
  paused = world.pool.add(paused);
  Lease old = lease;
  old.gpu = paused.id;
  world.allocator.worker_lost(old, "late news");
  // It was woken as the next one.
  CHECK(world.pool.row(paused).state == State::starting);
  CHECK(world.pool.row(paused).last_error.empty());
}

TEST_CASE("promises of a wait are recorded and scored by the claim") {
  World world;
  world.host({"cpu"});
  world.allocator.arrive(user("a"));
  REQUIRE(world.pool.store->promises({}).size() == 1);
  CHECK(!world.pool.store->promises({})[0].actual);
  world.idle();
  world.allocator.check(user("a"));
  CHECK(world.pool.store->promises({})[0].actual);
}

TEST_CASE("no ETA goes beyond the queue timeout") {
  for (const auto& [timeout, promised] :
       {std::pair(std::chrono::seconds(100), false), std::pair(std::chrono::seconds(7200), true)}) {
    World world({.queue_timeout = timeout});
    world.host({"cpu"});
    const auto first = std::get<Waiting>(world.allocator.arrive(user("a")));
    const auto second = std::get<Waiting>(world.allocator.arrive(user("b")));
    CHECK(first.eta);
    CHECK(second.eta.has_value() == promised);
  }
}

TEST_CASE("two gateways on one store serve the queue in one order") {
  World world;
  Allocator other(*world.pool.store, world.supply, world.demand_tracker,
                  {.gateway = "other", .host = "here"});
  world.allocator.arrive(user("a"));
  other.arrive(user("b"));
  world.idle();
  CHECK(std::get<Waiting>(other.check(user("b"))).position == 2);
  CHECK(std::holds_alternative<Lease>(world.allocator.check(user("a"))));
}
