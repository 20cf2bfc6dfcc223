// The store's contract: claims, leases, epochs, demand.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Gpu from(Source source, Gpu gpu) {
  gpu.source = source;
  return gpu;
}
Gpu dedicated(const std::string& tenant, Gpu gpu) {
  gpu.dedicated_to = {tenant};
  return gpu;
}
Gpu aged(int microseconds, Gpu gpu) {
  gpu.created_at = TimePoint(Duration(microseconds));
  return gpu;
}

std::int64_t whole_seconds(TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

STORE_TEST("a claim leases the lowest free slot, runs the GPU and raises its epoch") {
  const TestType place;
  const auto store = place.open();
  Gpu gpu = gpu_row("a", State::idle, 3);
  gpu.url = "http://127.0.0.1:7";
  gpu.reserved_for = {"someone"};
  add(*store, gpu);
  const Lease first = claimed(*store, user("u1", "acme"));
  CHECK(first.gpu.text == "a");
  CHECK(first.slot == 0);
  CHECK(first.url == "http://127.0.0.1:7");
  CHECK(first.tenant.text == "acme");
  CHECK(first.gateway == "gateway-1");
  CHECK(first.arrived_at == first.claimed_at);
  CHECK(first.until == first.claimed_at + k_minute);
  const Gpu row = found(*store, "a");
  CHECK(row.state == State::running);
  CHECK(row.sessions == 1);
  CHECK(row.epoch == first.epoch);
  CHECK(row.version == 2);
  CHECK(row.reserved_for.empty());
  CHECK(claimed(*store, user("u2")).slot == 1);
  REQUIRE(store->release(first.id, first.epoch));
  const Lease third = claimed(*store, user("u3"));
  CHECK(third.slot == 0);
  CHECK(third.epoch == first.epoch + 2);
  CHECK(store->leases().size() == 2);
}

STORE_TEST("a worker that is removed and added again gets epochs above those of its old row") {
  const TestType place;
  const auto store = place.open();
  Gpu gpu = from(Source::external, gpu_row("a"));
  gpu.url = "http://127.0.0.1:7";
  add(*store, gpu);
  std::uint64_t seen = 0;
  for (const char* name : {"u1", "u2", "u3"}) {
    const Lease lease = claimed(*store, user(name));
    seen = lease.epoch;
    REQUIRE(store->release(lease.id, lease.epoch));
  }
  add(*store, gpu_row("b"));  // may be the same worker under another URL
  CHECK(found(*store, "a").epoch == seen);
  REQUIRE(store->remove({"a"}, found(*store, "a").version, {"test", "removed"}));
  gpu.id = {"c"};
  add(*store, gpu);
  CHECK(found(*store, "c").epoch == 0);  // it has served nobody
  const auto other = place.open();
  for (const char* name : {"u4", "u5"}) CHECK(claimed(*other, user(name)).epoch == seen + 1);
  CHECK(found(*store, "b").epoch == seen + 1);
  CHECK(found(*store, "c").epoch == seen + 1);
}

STORE_TEST("a store that is made later gives epochs above those of one that was lost") {
  std::uint64_t seen = 0;
  std::int64_t lost_at = 0;
  {
    const TestType place;
    const auto lost = place.open();
    add(*lost, gpu_row("a"));
    lost_at = whole_seconds(lost->now());
    for (int i = 0; i < 3; ++i) {
      const Lease lease = claimed(*lost, user("u"));
      seen = lease.epoch;
      REQUIRE(lost->release(lease.id, lease.epoch));
    }
  }
  const TestType place;
  // Two stores of one second would give the same epochs.
  while (whole_seconds(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())) <=
         lost_at)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto store = place.open();
  add(*store, gpu_row("a"));
  CHECK(claimed(*store, user("u")).epoch > seen);
}

STORE_TEST("asking again gives the same lease, and no second one") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  const Lease lease = claimed(*store, user("u"));
  CHECK(claimed(*store, user("u")) == lease);
  CHECK(store->leases() == std::vector{lease});
  CHECK(found(*store, "a").sessions == 1);
}

STORE_TEST("a lease has its worker's name and provider, also when it is read again") {
  const TestType place;
  const auto store = place.open();
  Gpu duplicate = from(Source::cloud, gpu_row("a", State::idle, 2));
  duplicate.name = "navtalk-test-0123abcd-a.second";
  duplicate.provider_id = "kubernetes/gpus/a/u";
  add(*store, duplicate);
  const Lease lease = claimed(*store, user("u"));
  CHECK(lease.origin == Origin::kubernetes);
  CHECK(lease.worker == "navtalk-test-0123abcd-a");
  CHECK(store->leases() == std::vector{lease});
}

STORE_TEST("claims take the tenant's own GPU, then local, external and cloud ones") {
  const TestType place;
  const auto store = place.open();
  add(*store, aged(1, from(Source::cloud, gpu_row("cloud"))));
  add(*store, aged(2, from(Source::external, gpu_row("external"))));
  add(*store, aged(3, gpu_row("local")));
  add(*store, aged(4, dedicated("acme", from(Source::cloud, gpu_row("own")))));
  add(*store, aged(0, dedicated("other", gpu_row("others"))));
  std::vector<std::string> order;
  for (const char* id : {"u1", "u2", "u3", "u4"}) {
    order.push_back(claimed(*store, user(id, "acme")).gpu.text);
  }
  CHECK(order == std::vector<std::string>{"own", "local", "external", "cloud"});
  CHECK(!store->claim(user("u5", "acme"), k_minute));
  CHECK(!store->claim(user("u6"), k_minute));
  CHECK(claimed(*store, user("u7", "other")).gpu.text == "others");
}

STORE_TEST("among equals the fullest GPU is taken, then the oldest") {
  const TestType place;
  const auto store = place.open();
  add(*store, aged(2, gpu_row("young", State::idle, 2)));
  add(*store, aged(1, gpu_row("old", State::idle, 2)));
  std::string order;
  for (const char* id : {"u1", "u2", "u3"}) order += claimed(*store, user(id)).gpu.text + " ";
  CHECK(order == "old old young ");
}

STORE_TEST("only a GPU that answers, is not draining and has room is claimed") {
  const TestType place;
  const auto store = place.open();
  for (const State state : {State::starting, State::paused, State::failed, State::stopping}) {
    add(*store, gpu_row(std::string(name(state)), state));
  }
  Gpu draining = gpu_row("draining", State::idle, 2);
  draining.draining = true;
  add(*store, draining);
  CHECK(!store->claim(user("u1"), k_minute));
  change(*store, {.id = {"draining"}, .version = 1, .draining = false});
  claimed(*store, user("u1"));
  change(*store,
         {.id = {"draining"}, .version = found(*store, "draining").version, .draining = true});
  CHECK(!store->claim(user("u2"), k_minute));
  CHECK(store->leases().size() == 1);  // it keeps its session
}

STORE_TEST("a tenant holds no more than max_sessions") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 5));
  Claimant one = user("u1", "acme");
  one.max_sessions = 1;
  Claimant two = one;
  two.id = {"u2"};
  const Lease lease = claimed(*store, one);
  CHECK(claimed(*store, one) == lease);
  CHECK(!store->claim(two, k_minute));
  claimed(*store, user("u3", "other"));
  REQUIRE(store->release(lease.id, lease.epoch));
  claimed(*store, two);
}

STORE_TEST("the last session's release makes the GPU idle, and only the right epoch releases") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  const Lease first = claimed(*store, user("u1")), second = claimed(*store, user("u2"));
  CHECK(!store->release(first.id, second.epoch));
  CHECK(!store->release({"unknown"}, 1));
  CHECK(store->release(first.id, first.epoch));
  CHECK(found(*store, "a").state == State::running);
  CHECK(!store->release(first.id, first.epoch));
  CHECK(store->release(second.id, second.epoch));
  CHECK(found(*store, "a").state == State::idle);
  CHECK(found(*store, "a").sessions == 0);
}

STORE_TEST("a lease on a failed GPU can still be released") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const Lease lease = claimed(*store, user("u"));
  change(*store, {.id = {"a"}, .version = found(*store, "a").version, .event = Event::fail});
  CHECK(store->release(lease.id, lease.epoch));
  CHECK(found(*store, "a").state == State::failed);
  CHECK(found(*store, "a").sessions == 0);
}

STORE_TEST("a stale lease expires, and its slot's next epoch is higher") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const auto silent = store->claim(user("u1"), k_moment);
  REQUIRE(silent);
  CHECK(!store->claim(user("u2"), k_minute));  // not before it was ended
  const auto ended = store->expire();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0] == *silent);
  CHECK(found(*store, "a").state == State::idle);
  CHECK(store->expire().empty());
  const Lease next = claimed(*store, user("u2"));
  CHECK(next.epoch > silent->epoch);
  CHECK(!store->release(silent->id, silent->epoch));
  CHECK(store->leases() == std::vector{next});
}

STORE_TEST("a claimant whose lease is stale gets a new one") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const auto silent = store->claim(user("u"), k_moment);
  REQUIRE(silent);
  const Lease again = claimed(*store, user("u"));
  CHECK(again.id != silent->id);
  CHECK(again.epoch > silent->epoch);
  CHECK(found(*store, "a").sessions == 1);
}

STORE_TEST("a renewal keeps the leases and waiters of one gateway") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 4));
  Claimant other = user("u3");
  other.gateway = "gateway-2";
  const Lease held = claimed(*store, user("u1"));
  const auto late = store->claim(user("u2"), k_moment);
  REQUIRE(late);
  const Lease others = claimed(*store, other);
  REQUIRE(store->enqueue(user("w1"), 10, k_minute));
  REQUIRE(store->enqueue(user("w2"), 10, k_moment));

  const Renewal renewal = store->renew("gateway-1", 2 * k_minute);
  // A lease that ran out is nobody else's as long as it was not ended.
  CHECK(renewal.leases == std::vector{held.id, late->id});
  CHECK(renewal.waiters == std::vector{WaiterId{"w1"}});
  const auto leases = store->leases();
  REQUIRE(leases.size() == 3);
  CHECK(leases[0].until > held.until);
  CHECK(leases[2] == others);
  CHECK(store->expire().empty());
  CHECK(store->view().waiters.size() == 1);
}

STORE_TEST(
    "a claim takes no GPU that the user refuses, and one to avoid only where no other is free") {
  const TestType place;
  const auto store = place.open();
  for (const char* const id : {"a", "b", "c"}) add(*store, gpu_row(id));
  Claimant first = user("u1"), second = user("u2"), third = user("u3");
  first.refuse = {{"a"}};
  first.avoid = {{"b"}};
  CHECK(claimed(*store, first).gpu.text == "c");
  second.refuse = {{"a"}};
  second.avoid = {{"b"}};
  CHECK(claimed(*store, second).gpu.text == "b");
  third.refuse = {{"a"}};
  CHECK(!store->claim(third, k_minute));
  third.refuse.clear();
  CHECK(claimed(*store, third).gpu.text == "a");
}

STORE_TEST("a claim takes a GPU that missed its last probe only where no other is free") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  add(*store, gpu_row("b"));
  store->missed({{{"a"}, "silent"}}, store->now());
  CHECK(claimed(*store, user("u1")).gpu.text == "b");
  CHECK(claimed(*store, user("u2")).gpu.text == "a");
}

STORE_TEST("a renewal revives no expired lease") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  REQUIRE(store->claim(user("u1"), k_moment));
  REQUIRE(store->expire().size() == 1);
  CHECK(store->renew("gateway-1", k_minute).leases.empty());
}

STORE_TEST("demand counts each arrival and each ended session once") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const TimePoint start = store->now();
  const Lease lease = claimed(*store, user("u1"));
  claimed(*store, user("u1"));
  CHECK(!store->claim(user("u2"), k_minute));
  CHECK(store->enqueue(user("u2"), 10, k_minute) == 1);
  CHECK(store->enqueue(user("u2"), 10, k_minute) == 1);
  CHECK(!store->enqueue(user("u3"), 1, k_minute));  // the queue is full
  REQUIRE(store->release(lease.id, lease.epoch));
  const Lease second = claimed(*store, user("u2"));
  DemandBucket sum;
  for (const DemandBucket& bucket : store->demand(start - k_demand_bucket)) {
    CHECK(bucket.start.time_since_epoch() % k_demand_bucket == Duration(0));
    sum.arrivals += bucket.arrivals;
    sum.ended += bucket.ended;
    sum.ended_seconds += bucket.ended_seconds;
  }
  CHECK(sum.arrivals == 3);
  CHECK(sum.ended == 1);
  CHECK(sum.ended_seconds >= 0);
  CHECK(sum.ended_seconds < 60);
  CHECK(store->demand(start + k_minute).empty());
  CHECK(second.arrived_at < second.claimed_at);
}

STORE_TEST("a session that never began is not demand, and its user counts once") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const TimePoint start = store->now();
  const Lease lease = claimed(*store, user("u"));
  CHECK(!store->unclaim(lease.id, lease.epoch + 1));
  CHECK(store->unclaim(lease.id, lease.epoch));
  CHECK(found(*store, "a").state == State::idle);
  claimed(*store, user("u"));
  std::int64_t arrivals = 0, ended = 0;
  for (const DemandBucket& bucket : store->demand(start - k_demand_bucket)) {
    arrivals += bucket.arrivals;
    ended += bucket.ended;
  }
  CHECK(arrivals == 1);
  CHECK(ended == 0);
}

STORE_TEST("a user who comes again later counts once, when the user first came") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  Claimant again = user("u");
  again.came_at = store->now() - 3 * k_demand_bucket;  // long enough ago for another bucket
  for (int i = 0; i < 3; ++i) {
    REQUIRE(store->enqueue(again, 10, k_minute));
    const Lease lease = claimed(*store, again);
    CHECK(lease.arrived_at == *again.came_at);
    REQUIRE(store->unclaim(lease.id, lease.epoch));
  }
  REQUIRE(store->enqueue(again, 10, k_minute));
  std::vector<DemandBucket> counted = store->demand(*again.came_at - k_demand_bucket);
  std::erase_if(counted, [](const DemandBucket& bucket) { return bucket.arrivals == 0; });
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].arrivals == 1);
  CHECK(counted[0].start <= *again.came_at);
  CHECK(*again.came_at < counted[0].start + k_demand_bucket);
}

STORE_TEST("a local GPU serves its own host's gateways only") {
  const TestType place;
  const auto store = place.open();
  Gpu local = gpu_row("local");
  local.host = "there";
  add(*store, local);
  Gpu pod = gpu_row("pod");
  pod.source = Source::cloud;
  add(*store, pod);
  Claimant here = user("here");
  here.host = "here";
  Claimant there = user("there");
  there.host = "there";
  CHECK(claimed(*store, here).gpu == GpuId{"pod"});
  CHECK(claimed(*store, there).gpu == GpuId{"local"});
}
