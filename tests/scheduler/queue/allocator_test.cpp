#include "scheduler/queue/allocator.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/queue/withdrawn.h"
#include "tests/scheduler/dying_store.h"
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
  CHECK(std::get<NoGpu>(refused).retry_after.value() > Duration{});

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

TEST_CASE("without a queue a user waits for a slot that is lent, and has it when it comes back") {
  World world({.queue_limit = 0});
  world.idle();
  const auto lent = std::get<Lease>(world.allocator.borrow(user("job")));
  REQUIRE(std::holds_alternative<Waiting>(world.allocator.arrive(user("a"))));
  CHECK(world.pool.store->waiters().size() == 1);  // which is why the job gives it back
  CHECK(std::holds_alternative<NoGpu>(world.allocator.arrive(user("b"))));
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("a"))));
  world.allocator.release(lent);
  CHECK(std::holds_alternative<Lease>(world.allocator.check(user("a"))));
}

TEST_CASE("without a queue nobody waits for a lent slot that is not for them") {
  World world({.queue_limit = 0});
  Gpu gpu = new_gpu(world.pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.host = "here";
  gpu.device = "cpu";
  gpu.url = "http://127.0.0.1:9";
  gpu.slots = 2;
  Claimant claimant = user("a");
  claimant.tenant = {"acme"};
  SECTION("it is another tenant's") { gpu.dedicated_to = {"other"}; }
  SECTION("its tenant has as many sessions as it may") { claimant.max_sessions = 1; }
  SECTION("its session has just failed there") { claimant.refuse = {gpu.id}; }
  world.pool.add(gpu);
  const Claimant held{.id = {"held"},
                      .tenant = gpu.dedicated_to.empty() ? claimant.tenant : gpu.dedicated_to,
                      .gateway = "gateway",
                      .host = "here"};
  REQUIRE(world.pool.store->claim(held, std::chrono::seconds(30)));
  Claimant job{.id = {"job"}, .tenant = gpu.dedicated_to};
  REQUIRE(std::holds_alternative<Lease>(world.allocator.borrow(job)));
  CHECK(std::holds_alternative<NoGpu>(world.allocator.arrive(claimant)));
  CHECK(world.pool.store->waiters().empty());
}

TEST_CASE("a user who waited too long is refused, and leaves the queue") {
  World world({.queue_timeout = {}});
  const Allocation answer = world.allocator.arrive(user("a"));
  REQUIRE(std::holds_alternative<NoGpu>(answer));
  CHECK(std::get<NoGpu>(answer).message == "no GPU became available in time");
  CHECK(world.pool.store->view().waiters.empty());
}

TEST_CASE("while operators keep every GPU back, who waits is told, and no time to try again") {
  const bool patient = GENERATE(true, false);
  World world({.queue_timeout = patient ? Duration(std::chrono::minutes(5)) : Duration{}});
  Gpu gpu = new_gpu(world.pool.identity, Source::external);
  gpu.state = State::idle;
  gpu.url = "http://127.0.0.1:9";
  gpu.draining = true;
  world.pool.add(gpu);
  const Allocation answer = world.allocator.arrive(user("a"));
  if (!patient) {
    CHECK_FALSE(std::get<NoGpu>(answer).retry_after);
    return;
  }
  CHECK(std::get<Waiting>(answer).withdrawn);
  CHECK_FALSE(std::get<Waiting>(answer).eta);
}

TEST_CASE("operators keep every GPU back where each one is drained, or paused by one of them") {
  const auto row = [](State state, bool draining, bool by_operator) {
    Gpu gpu{.state = state, .draining = draining};
    gpu.intent.number = 7;
    gpu.operator_pause = by_operator ? 7 : 0;
    return gpu;
  };
  const Gpu drained = row(State::running, true, false), kept = row(State::paused, false, true);
  const Gpu failed = row(State::failed, false, false);
  CHECK_FALSE(withdrawn({}));
  CHECK_FALSE(withdrawn(std::vector{failed}));
  CHECK(withdrawn(std::vector{drained}));
  CHECK(withdrawn(std::vector{kept, failed, drained}));
  for (const State state :
       {State::idle, State::running, State::starting, State::paused, State::stopping}) {
    CHECK_FALSE(withdrawn(std::vector{drained, row(state, false, false)}));
  }
}

TEST_CASE("a user whose worker did not take the session goes on elsewhere, and counts once") {
  World world;
  const Gpu first = world.idle();
  const auto lease = std::get<Lease>(world.allocator.arrive(user("a")));
  REQUIRE(lease.gpu == first.id);
  world.allocator.unclaim(lease);
  CHECK(world.pool.row(first).state == State::idle);
  Claimant again = user("a");
  again.refuse = {first.id};
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(again)));
  const Gpu second = world.idle();
  CHECK(std::get<Lease>(world.allocator.check(again)).gpu == second.id);
  std::int64_t arrivals = 0;
  for (const DemandBucket& bucket : world.pool.store->demand({})) arrivals += bucket.arrivals;
  CHECK(arrivals == 1);
}

TEST_CASE("a gateway whose lease expired cannot free the slot of the next one") {
  World world;
  const Gpu gpu = world.idle();
  const auto old = std::get<Lease>(world.allocator.arrive(user("a")));
  REQUIRE(world.pool.store->release(old.id, old.epoch));
  const auto lease = std::get<Lease>(world.allocator.arrive(user("b")));
  REQUIRE(lease.gpu == gpu.id);
  world.allocator.unclaim(old);
  CHECK(world.pool.store->leases() == std::vector{lease});
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

TEST_CASE("a place that no view shows yet is a place, and not a full queue") {
  // Another thread's view, from before the user came, is what this one is given.
  struct OldView : DyingStore {
    using DyingStore::DyingStore;
    PoolView view() override {
      PoolView view = DyingStore::view();
      view.waiters.clear();
      return view;
    }
  };
  World world;
  OldView store(*world.pool.store, 100);
  Allocator allocator(store, world.supply, world.demand_tracker, {.gateway = "gateway"});
  CHECK(std::get<Waiting>(allocator.arrive(user("a"))).position == 1);
  CHECK(std::get<Waiting>(allocator.arrive(user("b"))).position == 2);
  CHECK(std::get<Waiting>(allocator.check(user("b"))).position == 2);
}

TEST_CASE("who lost a place in an outage gets it back, and nobody is sent away for it") {
  World world({.queue_limit = 3});
  std::vector<Claimant> users = {user("a"), user("b"), user("c")};
  for (Claimant& one : users) {
    one.came_at = std::get<Waiting>(world.allocator.arrive(one)).since;
    REQUIRE(one.came_at > TimePoint{});
  }
  // Nobody could renew for longer than a lease, and then others came first.
  for (const Claimant& one : users) world.pool.store->leave(one.id);
  for (const char* const name : {"d", "e", "f"}) {
    REQUIRE(std::holds_alternative<Waiting>(world.allocator.arrive(user(name))));
  }
  CHECK(std::holds_alternative<NoGpu>(world.allocator.arrive(user("g"))));
  world.allocator.invalidate_view();
  for (const int i : {2, 0, 1}) {
    REQUIRE(std::holds_alternative<Waiting>(world.allocator.check(users[i])));
  }
  std::string order;
  for (const Waiter& waiter : world.pool.store->view().waiters) order += waiter.claimant.id.text;
  CHECK(order == "abcdef");
  CHECK(std::get<Waiting>(world.allocator.check(users[0])).since == users[0].came_at);
}

TEST_CASE("who refuses the only free slot holds nobody up, and keeps the place for the next one") {
  World world;
  const Gpu gpu = world.idle();
  Claimant first = user("a");
  const auto refused = std::get<Lease>(world.allocator.arrive(first));
  first.came_at = refused.arrived_at;
  first.refuse = {gpu.id};
  REQUIRE(std::holds_alternative<Waiting>(world.allocator.arrive(user("b"))));
  REQUIRE(std::holds_alternative<Waiting>(world.allocator.arrive(user("c"))));
  world.allocator.unclaim(refused);
  world.allocator.invalidate_view();
  const auto place = std::get<Waiting>(world.allocator.check(first));
  CHECK(place.position == 1);
  CHECK(place.since == *first.came_at);
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("c"))));
  const auto taken = std::get<Lease>(world.allocator.check(user("b")));
  CHECK(taken.gpu == gpu.id);
  CHECK(world.pool.store->waiters().size() == 2);
  // It is free again: the first one waits on, and has it once it refuses it no longer.
  world.allocator.release(taken);
  world.allocator.invalidate_view();
  CHECK(std::get<Waiting>(world.allocator.check(first)).position == 1);
  first.refuse = {};
  CHECK(std::get<Lease>(world.allocator.check(first)).gpu == gpu.id);
  std::int64_t arrivals = 0;
  for (const DemandBucket& bucket : world.pool.store->demand({})) arrivals += bucket.arrivals;
  CHECK(arrivals == 3);
}

TEST_CASE("a GPU that becomes free is for the first who can use it, whoever asks first") {
  World world;
  const Gpu lost = world.idle();
  Claimant first = user("a");
  const auto served = std::get<Lease>(world.allocator.arrive(first));
  first.came_at = served.arrived_at;
  for (const char* const name : {"b", "c"}) world.allocator.arrive(user(name));
  first.refuse = {lost.id};
  first.lost_gpu_at = world.allocator.release_lost(served);
  world.allocator.invalidate_view();
  REQUIRE(std::holds_alternative<Waiting>(world.allocator.check(first)));
  const Gpu next = world.idle();
  // Those behind ask before the first one: the second one may have what the first refuses.
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("c"))));
  CHECK(std::get<Lease>(world.allocator.check(user("b"))).gpu == lost.id);
  CHECK(std::holds_alternative<Waiting>(world.allocator.check(user("c"))));
  CHECK(std::get<Lease>(world.allocator.check(first)).gpu == next.id);
}

TEST_CASE("who refuses a GPU, and tries it again later, moves nobody behind up and down") {
  World world;
  const Gpu gpu = world.idle();
  Claimant first = user("a");
  auto tried = std::get<Lease>(world.allocator.arrive(first));
  first.came_at = tried.arrived_at;
  for (const char* const name : {"b", "c", "d"}) world.allocator.arrive(user(name));
  const auto last_place = [&] {
    world.allocator.invalidate_view();
    return std::get<Waiting>(world.allocator.check(user("d"))).position;
  };
  const auto fail = [&](const Lease& lease) {
    world.allocator.unclaim(lease);
    first.refuse = {gpu.id};
    world.allocator.invalidate_view();
    return std::get<Waiting>(world.allocator.check(first)).position;
  };
  CHECK(fail(tried) == 1);
  CHECK(last_place() == 4);
  const auto served = std::get<Lease>(world.allocator.check(user("b")));
  world.allocator.connected(served);
  CHECK(last_place() == 3);
  CHECK(std::get<Waiting>(world.allocator.check(first)).position == 1);
  CHECK(last_place() == 3);  // it waits again
  world.allocator.release(served);
  first.refuse = {};
  tried = std::get<Lease>(world.allocator.check(first));
  CHECK(last_place() == 3);
  CHECK(fail(tried) == 1);
  CHECK(last_place() == 3);
  first.refuse = {};
  tried = std::get<Lease>(world.allocator.check(first));
  world.allocator.connected(tried);
  CHECK(last_place() == 2);
}

TEST_CASE("a user who lost a GPU stays ahead of a later one whose session did not begin") {
  World world;
  world.idle();
  Claimant first = user("a"), later = user("b");
  const auto lost = std::get<Lease>(world.allocator.arrive(first));
  first.came_at = lost.arrived_at;
  world.allocator.connected(lost);
  world.allocator.arrive(later);
  first.lost_gpu_at = world.allocator.release_lost(lost);
  const auto tried = std::get<Lease>(world.allocator.check(later));
  later.came_at = tried.arrived_at;
  world.allocator.unclaim(tried);
  later.refuse = {tried.gpu};
  world.allocator.invalidate_view();
  world.allocator.check(later);
  later.refuse = {};
  REQUIRE(std::holds_alternative<Lease>(world.allocator.check(later)));
  world.allocator.invalidate_view();
  CHECK(std::get<Waiting>(world.allocator.check(first)).position == 1);
}

TEST_CASE("a user whose session did not begin and who leaves no longer counts as ahead") {
  for (const bool with_lease : {true, false}) {
    World world;
    const Gpu gpu = world.idle();
    Claimant first = user("a");
    auto tried = std::get<Lease>(world.allocator.arrive(first));
    first.came_at = tried.arrived_at;
    for (const char* const name : {"b", "c"}) world.allocator.arrive(user(name));
    world.allocator.unclaim(tried);
    first.refuse = {gpu.id};
    world.allocator.invalidate_view();
    world.allocator.check(first);
    if (with_lease) {
      first.refuse = {};
      world.allocator.release(std::get<Lease>(world.allocator.check(first)));
    } else {
      world.allocator.leave(first.id);
    }
    world.allocator.invalidate_view();
    CHECK(std::get<Waiting>(world.allocator.check(user("c"))).position == 2);
  }
}

TEST_CASE("who refuses the only free slot while nobody else waits stays in the queue") {
  World world;
  const Gpu gpu = world.idle();
  Claimant only = user("a");
  const auto refused = std::get<Lease>(world.allocator.arrive(only));
  only.came_at = refused.arrived_at;
  only.refuse = {gpu.id};
  world.allocator.unclaim(refused);
  CHECK(std::get<Waiting>(world.allocator.check(only)).position == 1);
  CHECK(world.pool.store->waiters().size() == 1);
}

TEST_CASE("a slot that its user refuses is no ETA: nothing is known until another GPU starts") {
  World world;
  const Gpu lost = world.idle(2);
  Claimant user_of_lost = user("a");
  const auto held = std::get<Lease>(world.allocator.arrive(user_of_lost));
  REQUIRE(std::holds_alternative<Lease>(world.allocator.borrow(user("job"))));
  user_of_lost.came_at = held.arrived_at;
  user_of_lost.lost_gpu_at = world.allocator.release_lost(held);
  user_of_lost.refuse = {lost.id};
  world.allocator.invalidate_view();
  const auto unknown = std::get<Waiting>(world.allocator.check(user_of_lost)).eta;
  // The slot that is lent there comes back as a session ends.
  CHECK((!unknown || *unknown > std::chrono::seconds(10)));
  world.host({"cpu"});
  world.supply.ensure_for_waiters();
  world.supply.provision(world.pool.store->view(), "test");
  world.allocator.invalidate_view();
  const auto known = std::get<Waiting>(world.allocator.check(user_of_lost)).eta;
  REQUIRE(known);
  CHECK(*known > std::chrono::seconds(1));
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
