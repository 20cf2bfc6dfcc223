// The store's contract: the queue's order, bound, fairness between tenants, promises, and news.
#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Claimant waiting(const std::string& id, const std::string& tenant, int plan = 0,
                 double weight = 1) {
  Claimant claimant = user(id, tenant);
  claimant.plan = plan;
  claimant.weight = weight;
  return claimant;
}

void enqueue(PoolStore& store, const Claimant& claimant) {
  REQUIRE(store.enqueue(claimant, 10'000, k_minute));
}

std::vector<std::string> order(PoolStore& store) {
  std::vector<std::string> ids;
  std::size_t position = 0;
  for (const Waiter& waiter : store.view().waiters) {
    CHECK(waiter.position == ++position);
    ids.push_back(waiter.claimant.id.text);
  }
  return ids;
}

// The head takes a slot and gives it back, again and again: who was served, in order.
std::vector<std::string> serve(PoolStore& store, std::size_t count) {
  std::vector<std::string> tenants;
  for (std::size_t i = 0; i < count; ++i) {
    const auto waiters = store.view().waiters;
    REQUIRE(!waiters.empty());
    const Lease lease = claimed(store, waiters.front().claimant);
    tenants.push_back(lease.tenant.text);
    REQUIRE(store.release(lease.id, lease.epoch));
  }
  return tenants;
}

}  // namespace

STORE_TEST("a higher plan is served first, then the earlier waiter") {
  const TestType place;
  const auto store = place.open();
  CHECK(store->enqueue(waiting("a", "x", 0), 10, k_minute) == 1);
  CHECK(store->enqueue(waiting("b", "y", 0), 10, k_minute) == 2);
  CHECK(store->enqueue(waiting("c", "z", 5), 10, k_minute) == 1);
  CHECK(store->enqueue(waiting("a", "x", 0), 10, k_minute) == 2);
  CHECK(order(*store) == std::vector<std::string>{"c", "a", "b"});
}

STORE_TEST("a waiter comes back from the view as it was put in") {
  const TestType place;
  const auto store = place.open();
  Claimant claimant = waiting("w", "acme", 3, 2.5);
  claimant.max_sessions = 4;
  enqueue(*store, claimant);
  const Waiter waiter = store->view().waiters.at(0);
  CHECK(waiter.claimant.id.text == "w");
  CHECK(waiter.claimant.tenant.text == "acme");
  CHECK(waiter.claimant.plan == 3);
  CHECK(waiter.claimant.weight == 2.5);
  CHECK(waiter.claimant.gateway == "gateway-1");
  CHECK(waiter.claimant.max_sessions == 4);
  CHECK(waiter.until == waiter.arrived_at + k_minute);
}

STORE_TEST("the queue is bounded, and only waiters within their time count") {
  const TestType place;
  const auto store = place.open();
  CHECK(!store->enqueue(user("z"), 0, k_minute));
  REQUIRE(store->enqueue(user("a"), 2, k_moment));
  REQUIRE(store->enqueue(user("b"), 2, k_minute));
  REQUIRE(store->enqueue(user("c"), 2, k_minute));
  CHECK(!store->enqueue(user("d"), 2, k_minute));
  CHECK(store->enqueue(user("c"), 2, k_minute) == 2);
  CHECK(order(*store) == std::vector<std::string>{"b", "c"});
  store->leave({"b"});
  store->leave({"b"});
  CHECK(store->enqueue(user("d"), 2, k_minute) == 2);
}

STORE_TEST("who lost a place gets it back among its tenant's, whatever the limit") {
  const TestType place;
  const auto store = place.open();
  for (const auto& [id, tenant] : {std::pair("a", "x"), std::pair("b", "x"), std::pair("c", "y")})
    enqueue(*store, waiting(id, tenant));
  Claimant again = waiting("a", "x");
  again.came_at = store->view().waiters.at(0).arrived_at;
  store->leave({"a"});
  enqueue(*store, waiting("d", "x"));
  CHECK(order(*store) == std::vector<std::string>{"c", "b", "d"});
  CHECK(!store->enqueue(again, 0, k_minute));
  CHECK(store->enqueue(again, 1, k_minute) == 2);
  CHECK(order(*store) == std::vector<std::string>{"c", "a", "b", "d"});
  CHECK(store->view().waiters.at(1).arrived_at == again.came_at);
}

STORE_TEST("a slot goes to the head of the queue, not to the first claim") {
  const TestType place;
  const auto store = place.open();
  enqueue(*store, user("w1"));
  enqueue(*store, user("w2"));
  add(*store, gpu_row("a"));
  CHECK(!store->claim(user("newcomer"), k_minute));
  CHECK(!store->claim(user("w2"), k_minute));
  const Lease lease = claimed(*store, user("w1"));
  CHECK(lease.arrived_at < lease.claimed_at);
  CHECK(order(*store) == std::vector<std::string>{"w2"});
}

STORE_TEST("with enough slots for all ahead, the first claim is served") {
  const TestType place;
  const auto store = place.open();
  enqueue(*store, user("w1"));
  enqueue(*store, user("w2"));
  add(*store, gpu_row("a", State::idle, 3));
  claimed(*store, user("newcomer"));
  claimed(*store, user("w2"));
  CHECK(!store->claim(user("second newcomer"), k_minute));
  claimed(*store, user("w1"));
}

STORE_TEST("a waiter that can use no shared slot delays nobody") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("full"));
  Claimant bounded = user("w1", "bounded");
  bounded.max_sessions = 1;
  Claimant first = bounded;
  first.id = {"first"};
  claimed(*store, first);
  enqueue(*store, bounded);                             // its tenant holds all it may
  REQUIRE(store->enqueue(user("dead"), 10, k_moment));  // its gateway is silent
  Gpu own = gpu_row("own");
  own.dedicated_to = {"rich"};
  add(*store, own);
  enqueue(*store, waiting("w2", "rich"));  // has a slot of its own
  add(*store, gpu_row("free"));
  CHECK(claimed(*store, user("newcomer")).gpu.text == "free");
  CHECK(claimed(*store, waiting("w2", "rich")).gpu.text == "own");
}

STORE_TEST("a waiter that cannot reach a local slot delays nobody, and one that can does") {
  const TestType place;
  const auto store = place.open();
  const auto on = [](const std::string& id, const std::string& host) {
    Claimant claimant = user(id);
    claimant.host = host;
    return claimant;
  };
  Gpu local = gpu_row("local");
  local.host = "one";
  enqueue(*store, on("w2", "two"));
  add(*store, local);
  CHECK(!store->claim(on("w2", "two"), k_minute));
  const Lease lease = claimed(*store, on("w1", "one"));
  REQUIRE(store->release(lease.id, lease.epoch));
  enqueue(*store, on("w3", "one"));
  CHECK(!store->claim(on("w4", "one"), k_minute));
  CHECK(!store->claim(user("w5"), k_minute));
  CHECK(claimed(*store, on("w3", "one")).gpu.text == "local");
  CHECK(store->view().waiters.at(0).claimant.host == "two");
}

STORE_TEST("tenants of one plan share by weight, whatever each has waiting") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::starting));
  for (int i = 0; i < 60; ++i) enqueue(*store, waiting("l" + std::to_string(i), "light", 0, 1));
  for (int i = 0; i < 60; ++i) enqueue(*store, waiting("h" + std::to_string(i), "heavy", 0, 3));
  change(*store, {.id = {"a"}, .version = 1, .event = Event::ready});
  for (int round = 0; round < 5; ++round) {
    const auto served = serve(*store, 12);
    const auto light = std::count(served.begin(), served.end(), "light");
    CHECK(light >= 2);
    CHECK(light <= 4);
  }
}

STORE_TEST("a tenant that floods the queue does not delay one that comes with few") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  // Zipf: tenant k has 120/k waiting, all of weight 1.
  std::map<std::string, int> left;
  int number = 0;
  for (int tenant = 1; tenant <= 8; ++tenant) {
    for (int i = 0; i < 120 / tenant; ++i) {
      const std::string id = "t" + std::to_string(tenant);
      enqueue(*store, waiting("w" + std::to_string(number++), id));
      ++left[id];
    }
  }
  const auto served = serve(*store, 80);
  std::map<std::string, int> got;
  for (const std::string& tenant : served) ++got[tenant];
  // All have more waiting than an equal share of 80, so each gets just that.
  for (const auto& [tenant, count] : left) {
    INFO(tenant);
    CHECK(std::abs(got[tenant] - 10) <= 1);
  }
}

STORE_TEST("idle time earns no credit, and leaving returns the share") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  for (int i = 0; i < 10; ++i) enqueue(*store, waiting("x" + std::to_string(i), "x"));
  serve(*store, 5);
  for (int i = 0; i < 5; ++i) enqueue(*store, waiting("y" + std::to_string(i), "y"));
  const auto served = serve(*store, 6);
  CHECK(std::count(served.begin(), served.end(), "y") >= 3);
  CHECK(std::count(served.begin(), served.end(), "y") <= 4);

  const TestType elsewhere;
  const auto other = elsewhere.open();
  add(*other, gpu_row("a"));
  enqueue(*other, waiting("x1", "x"));
  enqueue(*other, waiting("z", "z"));
  enqueue(*other, waiting("z2", "z"));
  enqueue(*other, waiting("x2", "x"));
  enqueue(*other, waiting("x3", "x"));
  other->leave({"x3"});
  other->leave({"x2"});
  enqueue(*other, waiting("x4", "x"));
  CHECK(order(*other) == std::vector<std::string>{"x1", "z", "z2", "x4"});
}

STORE_TEST("a position falls, unless a higher plan or a tenant with less use came in") {
  const TestType place;
  const auto store = place.open();
  for (int i = 0; i < 6; ++i) enqueue(*store, waiting("x" + std::to_string(i), "x"));
  const auto before = order(*store);
  enqueue(*store, waiting("late", "x"));
  auto after = order(*store);
  CHECK(after.back() == "late");
  after.pop_back();
  CHECK(after == before);
  enqueue(*store, waiting("other", "y"));
  CHECK(order(*store).at(1) == "other");  // behind x0, which came first with the same share
}

STORE_TEST("a promise is scored by the claim that ends the wait") {
  const TestType place;
  const auto store = place.open();
  const TimePoint start = store->now();
  enqueue(*store, user("w1"));
  enqueue(*store, user("w2"));
  store->record(Promise{{"w1"}, start - k_minute, 2 * k_minute});
  store->record(Promise{{"w1"}, start, k_minute});
  store->record(Promise{{"w2"}, start, k_minute});
  add(*store, gpu_row("a"));
  const Lease lease = claimed(*store, user("w1"));
  const auto promises = store->promises({.made_since = start - k_minute});
  REQUIRE(promises.size() == 3);
  CHECK(promises[0].promised == 2 * k_minute);
  CHECK(promises[0].actual == lease.claimed_at - start + k_minute);
  CHECK(promises[1].actual == lease.claimed_at - start);
  CHECK(promises[2].waiter.text == "w2");
  CHECK(!promises[2].actual);
  CHECK(store->promises({.made_since = start}).size() == 2);
}

STORE_TEST(
    "a promise to a waiter who left unserved after its time is broken, one before it is not") {
  const TestType place;
  const auto store = place.open();
  const TimePoint start = store->now();
  for (const char* name : {"patient", "hasty"}) enqueue(*store, user(name));
  store->record(Promise{{"patient"}, start - k_minute, k_minute / 2});
  store->record(Promise{{"hasty"}, start - k_minute, 10 * k_minute});
  store->leave({"patient"});
  store->leave({"hasty"});
  const auto promises = store->promises({.made_since = start - k_minute});
  REQUIRE(promises.size() == 2);
  CHECK(promises[0].waiter.text == "patient");
  CHECK(promises[0].actual >= k_minute);
  CHECK_FALSE(promises[1].actual);
}

STORE_TEST("an outcome is shown once to who asks for those after the last one seen") {
  const TestType place;
  const auto store = place.open();
  const TimePoint start = store->now();
  for (const char* name : {"late", "early", "open"}) {
    enqueue(*store, user(name));
    store->record(Promise{{name}, start, k_minute});
  }
  store->record(Promise{{"early"}, start + Duration(1), k_minute});
  add(*store, gpu_row("a", State::idle, 2));
  CHECK(store->promises({.known_after = start}).empty());
  store->leave({"open"});
  claimed(*store, user("late"));
  const auto first = store->promises({.known_after = start - k_minute});
  REQUIRE(first.size() == 1);
  CHECK(first[0].waiter.text == "late");
  claimed(*store, user("early"));
  const auto second = store->promises({.known_after = first[0].made_at + *first[0].actual});
  REQUIRE(second.size() == 2);
  CHECK(second[0].waiter.text == "early");
  CHECK(second[1].waiter.text == "early");
  CHECK(store->promises({.known_after = second[1].made_at + *second[1].actual}).empty());
  CHECK(store->promises({.made_since = start + Duration(1), .known_after = start}).size() == 1);
}

STORE_TEST("the score of promises counts those whose outcome is known") {
  const TestType place;
  const auto store = place.open();
  const TimePoint since = store->now();
  CHECK(store->promise_score(since).scored == 0);
  store->record(Promise{{"before"}, since - Duration(1), k_minute, k_minute});
  store->record(Promise{{"kept"}, since, k_minute, k_minute});
  store->record(Promise{{"early"}, since, 3 * k_minute, k_minute});
  store->record(Promise{{"broken"}, since, k_minute, 2 * k_minute});
  store->record(Promise{{"open"}, since, k_minute});
  const PromiseScore score = store->promise_score(since);
  CHECK(score.scored == 3);
  CHECK(score.kept == 2);
  CHECK(score.error == 3 * k_minute);
}

STORE_TEST("no change that matters to waiters is missed between two waits") {
  const TestType place;
  const auto store = place.open();
  const auto another = place.open();  // as another process would have it
  add(*store, gpu_row("a"));
  std::uint64_t seen = store->wait_for_change(0, k_minute, {});
  const auto told = [&](const char* what) {
    const std::uint64_t now = store->wait_for_change(seen, k_minute, {});
    INFO(what);
    CHECK(now != seen);
    // Others' news may come in several steps.
    seen = now;
    while (true) {
      const std::uint64_t more = store->wait_for_change(seen, std::chrono::milliseconds(50), {});
      if (more == seen) break;
      seen = more;
    }
  };
  REQUIRE(seen != 0);
  store->wait_for_change(seen, std::chrono::milliseconds(50), {});
  seen = store->wait_for_change(0, k_minute, {});
  const Lease lease = claimed(*another, user("u"));
  enqueue(*another, user("w"));
  told("a waiter came");
  another->release(lease.id, lease.epoch);
  told("a slot is free");
  claimed(*another, user("w"));
  told("the queue moved");
  change(*another, {.id = {"a"}, .version = found(*another, "a").version, .event = Event::fail});
  told("a GPU failed");
}

STORE_TEST("a wait ends with a change from another thread, or a stop") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  store->wait_for_change(0, k_minute, {});
  std::stop_source stop;
  std::uint64_t seen = store->wait_for_change(0, std::chrono::milliseconds(50), {});
  const std::jthread changer([&] { store->enqueue(user("w"), 10, k_minute); });
  while (store->view().waiters.empty()) seen = store->wait_for_change(seen, k_minute, {});
  const auto begin = std::chrono::steady_clock::now();
  const std::jthread stopper([&] { stop.request_stop(); });
  while (!stop.stop_requested()) seen = store->wait_for_change(seen, k_minute, stop.get_token());
  CHECK(std::chrono::steady_clock::now() - begin < k_minute);
}
