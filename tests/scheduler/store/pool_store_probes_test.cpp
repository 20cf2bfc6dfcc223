// The contract of PoolStore: results of probes, and who gets a GPU that does not answer.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr TimePoint at(int us) { return TimePoint(Duration(us)); }

void miss(PoolStore& store, const std::string& id, int times) {
  for (int i = 0; i < times; ++i) store.missed({{{id}, "silent"}}, store.now());
}

}  // namespace

STORE_TEST("a probe's answer is not a change") {
  const TestType place;
  const auto store = place.open();
  const Gpu before = add(*store, gpu_row("a"));
  store->seen({{"a"}}, at(20));
  store->seen({{"a"}}, at(10));
  Gpu expected = before;
  expected.seen_at = at(20);
  CHECK(store->find({"a"}) == expected);
  CHECK(store->events({}).size() == 1);
}

STORE_TEST("misses are counted in the row until the worker answers, and are not changes either") {
  const TestType place;
  const auto store = place.open();
  const Gpu before = add(*store, gpu_row("a"));
  store->missed({{{"a"}, "silent"}}, at(20));
  CHECK(place.open()->missed({{{"a"}, "silent"}}, at(30)).at(0).misses == 2);
  Gpu expected = before;
  expected.misses = 2;
  expected.missed_since = at(20);
  CHECK(store->find({"a"}) == expected);
  store->seen({{"a"}}, at(40));
  CHECK(store->find({"a"})->misses == 0);
  CHECK(store->events({}).size() == 1);
  CHECK(store->missed({{{"gone"}, "silent"}}, at(20)).empty());

  add(*store, gpu_row("b", State::starting));
  CHECK(store->missed({{{"b"}, "HTTP 502"}}, at(20)).at(0).last_error == "HTTP 502");
}

STORE_TEST("any number of answers and misses are recorded in one call") {
  const TestType place;
  const auto store = place.open();
  const std::size_t count = GENERATE(1, 100, 101, 230);
  std::vector<GpuId> ids;
  std::vector<Miss> misses;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(add(*store, gpu_row("g" + std::to_string(i))).id);
    misses.push_back({ids.back(), "silent"});
  }
  add(*store, gpu_row("other"));
  const auto rows = store->missed(misses, at(10));
  REQUIRE(rows.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(rows[i].id == ids[i]);
    CHECK(rows[i].misses == 1);
  }
  store->seen(ids, at(20));
  store->seen({}, at(20));
  for (const GpuId& id : ids) {
    CHECK(store->find(id)->seen_at == at(20));
    CHECK(store->find(id)->misses == 0);
  }
  CHECK(store->find({"other"})->seen_at == TimePoint{});
  CHECK(store->find({"other"})->misses == 0);
}

STORE_TEST("a starting GPU is seen when it is ready, and its misses end then") {
  const TestType place;
  const auto store = place.open();
  const Gpu gpu = add(*store, gpu_row("a", State::starting));
  store->seen({gpu.id}, at(20));
  CHECK(store->find(gpu.id)->seen_at == TimePoint{});
  miss(*store, "a", 2);
  const Gpu ready = change(*store, {.id = gpu.id, .version = 1, .event = Event::ready});
  CHECK(ready.seen_at > TimePoint{});
  CHECK(ready.misses == 0);
  CHECK(ready.missed_since == TimePoint{});
  CHECK(store->find(gpu.id) == ready);
}

STORE_TEST("a GPU that missed a probe is taken when no other is free, and a silent one never") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("silent", State::idle, 3));
  Gpu cloud = gpu_row("cloud");
  cloud.source = Source::cloud;
  add(*store, cloud);
  Gpu own = gpu_row("own");
  own.dedicated_to = {"acme"};
  add(*store, own);
  miss(*store, "silent", 2);
  miss(*store, "own", 2);
  CHECK(claimed(*store, user("u1", "acme")).gpu.text == "cloud");
  CHECK(claimed(*store, user("u2", "acme")).gpu.text == "own");
  CHECK(claimed(*store, user("u3")).gpu.text == "silent");
  miss(*store, "silent", 1);
  CHECK(!store->claim(user("u4"), k_minute));
  store->seen({{"silent"}}, store->now());
  CHECK(claimed(*store, user("u4")).gpu.text == "silent");
}

STORE_TEST("a silent GPU's slots help nobody past those who wait ahead") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("silent"));
  miss(*store, "silent", 3);
  REQUIRE(store->enqueue(user("first"), 10, k_minute));
  REQUIRE(store->enqueue(user("second"), 10, k_minute));
  add(*store, gpu_row("free"));
  CHECK(!store->claim(user("second"), k_minute));
  CHECK(claimed(*store, user("first")).gpu.text == "free");
}

STORE_TEST("a row for waiting users is needed beside silent GPUs, one in advance is not") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("silent", State::idle, 2));
  miss(*store, "silent", 3);
  CHECK(!store->add({.gpu = gpu_row("spare"), .for_users = ForUsers{.spare = 2}}, k_test));
  REQUIRE(store->enqueue(user("waits"), 10, k_minute));
  const auto row =
      store->add({.gpu = gpu_row("new", State::starting), .for_users = ForUsers{}}, k_test);
  REQUIRE(row);
  CHECK(row->reserved_for.text == "waits");
  CHECK(!store->add({.gpu = gpu_row("more"), .for_users = ForUsers{.spare = 2}}, k_test));
}

STORE_TEST("an event may concern no single GPU") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  store->record(Cause{"prober", "an outage begins"});
  const auto events = store->events({});
  REQUIRE(events.size() == 2);
  CHECK(events[1].gpu.empty());
  CHECK(events[1].who == "prober");
  CHECK(events[1].why == "an outage begins");
  CHECK_FALSE(events[1].from);
  CHECK_FALSE(events[1].to);
}
