// The store's contract: slots that are lent to offline work.
#include "scheduler/store/late_workers.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Claimant work(const std::string& id) {
  Claimant claimant = user(id);
  claimant.lane = Lane::batch;
  return claimant;
}

double arrivals(PoolStore& store) {
  double sum = 0;
  for (const DemandBucket& bucket : store.demand({})) sum += static_cast<double>(bucket.arrivals);
  return sum;
}

double ends(PoolStore& store) {
  double sum = 0;
  for (const DemandBucket& bucket : store.demand({})) sum += static_cast<double>(bucket.ended);
  return sum;
}

}  // namespace

STORE_TEST("offline work borrows a free slot, runs the GPU and gives it back") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  const Lease lent = claimed(*store, work("j1"));
  CHECK(lent.lane == Lane::batch);
  Gpu row = found(*store, "a");
  CHECK(row.state == State::running);
  CHECK(row.sessions == 1);
  CHECK(row.lent == 1);
  const Lease live = claimed(*store, user("u1"));
  CHECK(live.lane == Lane::live);
  row = found(*store, "a");
  CHECK(row.sessions == 2);
  CHECK(row.lent == 1);
  CHECK(row.free_slots() == 0);
  REQUIRE(store->release(lent.id, lent.epoch));
  row = found(*store, "a");
  CHECK(row.sessions == 1);
  CHECK(row.lent == 0);
  REQUIRE(store->release(live.id, live.epoch));
  CHECK(found(*store, "a").state == State::idle);
}

STORE_TEST("offline work gets no slot while a user waits, even one that the user cannot have") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  Claimant limited = user("u1", "acme");
  limited.max_sessions = 1;
  REQUIRE(store->enqueue(limited, 10, k_minute));
  CHECK_FALSE(store->claim(work("j1"), k_minute));
  store->leave(limited.id);
  CHECK(store->claim(work("j1"), k_minute));
}

STORE_TEST(
    "offline work leaves as many slots free as it is told to, of those that its gateway's users "
    "reach") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 3));
  Gpu elsewhere = gpu_row("b", State::idle, 8);
  elsewhere.source = Source::local;
  elsewhere.host = "there";
  add(*store, elsewhere);
  const auto lent = [&](const std::string& id, int keep_free) {
    Claimant claimant = work(id);
    claimant.host = "here";
    claimant.keep_free = keep_free;
    return store->claim(claimant, k_minute).has_value();
  };
  CHECK_FALSE(lent("j1", 3));
  CHECK(lent("j1", 2));
  CHECK_FALSE(lent("j2", 2));
  CHECK(store->claim(user("u1"), k_minute));
  CHECK_FALSE(lent("j2", 1));
  CHECK(lent("j2", 0));
}

STORE_TEST("offline work never has the slot of another, and waits in no queue") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const Lease live = claimed(*store, user("u1"));
  CHECK_FALSE(store->claim(work("j1"), k_minute));
  CHECK(store->waiters().empty());
  REQUIRE(store->release(live.id, live.epoch));
  const Lease lent = claimed(*store, work("j1"));
  CHECK_FALSE(store->claim(user("u2"), k_minute));
  CHECK(lent.epoch > live.epoch);
}

STORE_TEST("offline work is no demand, whether it ends, expires or never began") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 3));
  const Lease ended = claimed(*store, work("j1"));
  const Lease never = claimed(*store, work("j2"));
  REQUIRE(store->claim(work("j3"), k_moment));
  REQUIRE(store->release(ended.id, ended.epoch));
  REQUIRE(store->unclaim(never.id, never.epoch));
  REQUIRE(store->expire().size() == 1);
  CHECK(arrivals(*store) == 0);
  CHECK(ends(*store) == 0);
  CHECK(found(*store, "a").lent == 0);
  CHECK(found(*store, "a").sessions == 0);
}

STORE_TEST("a tenant's bound on sessions does not count offline work") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  Claimant job = work("j1");
  job.tenant = {"acme"};
  REQUIRE(store->claim(job, k_minute));
  Claimant limited = user("u1", "acme");
  limited.max_sessions = 1;
  CHECK(store->claim(limited, k_minute));
}

STORE_TEST("offline work of any gateway gets no slot of a worker that has missed a heartbeat") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 3));
  const Lease lent = claimed(*store, work("j1"));
  Claimant other = work("j2");
  other.gateway = "gateway-2";
  LateWorkers late(StoreBackend::open(place.url()));
  late.mark("gateway-1", {lent.id});
  CHECK_FALSE(store->claim(other, k_minute));
  SECTION("until it reports") {
    late.mark("gateway-1", {});
    CHECK(store->claim(other, k_minute));
  }
  SECTION("until its work ends") {
    REQUIRE(store->release(lent.id, lent.epoch));
    CHECK(store->claim(other, k_minute));
  }
  SECTION("but another worker's") {
    add(*store, gpu_row("b", State::idle, 1));
    CHECK(claimed(*store, other).gpu == GpuId{"b"});
  }
  SECTION("and users do") { CHECK(store->claim(user("u1"), k_minute)); }
}

STORE_TEST("a gateway marks its own offline work alone") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 3));
  const Lease lent = claimed(*store, work("j1")), live = claimed(*store, user("u1"));
  LateWorkers late(StoreBackend::open(place.url()));
  late.mark("gateway-2", {lent.id});
  late.mark("gateway-1", {live.id});
  CHECK(store->claim(work("j2"), k_minute));
  late.mark("gateway-1", {lent.id});
  late.mark("gateway-2", {});
  CHECK_FALSE(store->claim(work("j3"), k_minute));
}
