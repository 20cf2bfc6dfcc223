// The store's contract: caps on GPUs and on spending, and the ledger of what was paid.
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Gpu pod(const std::string& id, double usd) {
  Gpu gpu = gpu_row(id);
  gpu.source = Source::cloud;
  gpu.provider_id = "pod-" + id;
  gpu.usd_per_hour = usd;
  return gpu;
}

}  // namespace

STORE_TEST("the count cap counts what is neither dedicated nor external") {
  const TestType place;
  const auto store = place.open();
  Gpu dedicated = gpu_row("d"), external = gpu_row("e");
  dedicated.dedicated_to = {"acme"};
  external.source = Source::external;
  add(*store, dedicated);
  add(*store, external);
  CHECK(store->add({.gpu = gpu_row("a"), .max_gpus = 2}, k_test));
  CHECK(store->add({.gpu = gpu_row("b", State::paused), .max_gpus = 2}, k_test));
  CHECK(!store->add({.gpu = gpu_row("c"), .max_gpus = 2}, k_test));
  CHECK(!store->find({"c"}));
  CHECK(store->add({.gpu = gpu_row("c")}, k_test));
}

STORE_TEST("the price cap holds the sum over all rows") {
  const TestType place;
  const auto store = place.open();
  CHECK(store->add({.gpu = pod("a", 0.5), .max_usd_per_hour = 1.2}, k_test));
  CHECK(store->add({.gpu = pod("b", 0.5), .max_usd_per_hour = 1.2}, k_test));
  CHECK(!store->add({.gpu = pod("c", 0.5), .max_usd_per_hour = 1.2}, k_test));
  CHECK(store->add({.gpu = gpu_row("d"), .max_usd_per_hour = 1.2}, k_test));
}

STORE_TEST("a price is written only if the cap allows it, beside all that is not paused") {
  const TestType place;
  const auto store = place.open();
  add(*store, pod("a", 0.5));
  add(*store, pod("b", 0.5));
  Gpu paused = pod("p", 5);
  paused.state = State::paused;
  add(*store, paused);
  const auto priced = [&](std::uint64_t version, double usd, double cap) {
    return store->change(
        {.id = {"a"}, .version = version, .usd_per_hour = usd, .max_usd_per_hour = cap}, k_test);
  };
  CHECK(!priced(1, 0.8, 1.2));
  CHECK(found(*store, "a").usd_per_hour == 0.5);
  CHECK(priced(1, 0.7, 1.2));  // up to the cap, though 0.7 + 0.5 is a little more
  CHECK(priced(2, 9, 0));      // no cap
  CHECK(!store->add({.gpu = pod("c", 0.1), .max_usd_per_hour = 1.2}, k_test));
}

STORE_TEST("what is being destroyed makes room for a price that is paid, not for one to come") {
  const TestType place;
  const auto store = place.open();
  Gpu leaving = pod("l", 1);
  leaving.state = State::stopping;
  add(*store, leaving);
  Gpu gpu = pod("a", 0.5);
  gpu.provider_id = {};
  add(*store, gpu);
  const GpuChange dearer{.id = {"a"}, .version = 1, .usd_per_hour = 1, .max_usd_per_hour = 1.2};
  CHECK(!store->change(dearer, k_test));
  GpuChange created = dearer;
  created.provider_id = "pod-1";
  CHECK(store->change(created, k_test));
}

STORE_TEST(
    "a cloud GPU is paid for from the moment that its pod and price are known until it is "
    "paused or removed") {
  const TestType place;
  const auto store = place.open();
  Gpu gpu = pod("a", 0);
  gpu.provider_id = {};
  gpu.state = State::starting;
  add(*store, gpu);
  add(*store, gpu_row("local"));
  change(*store, {.id = {"a"}, .version = 1, .provider_id = "pod-1"});
  CHECK(store->ledger({}).empty());
  change(*store, {.id = {"a"}, .version = 2, .usd_per_hour = 0.25});
  change(*store, {.id = {"a"}, .version = 3, .event = Event::ready});  // no new span
  REQUIRE(store->ledger({}).size() == 1);
  CHECK(!store->ledger({})[0].to);
  change(*store, {.id = {"a"}, .version = 4, .usd_per_hour = 0.5});  // a new price
  change(*store, {.id = {"a"}, .version = 5, .event = Event::pause});
  change(*store, {.id = {"a"}, .version = 6, .event = Event::paused});
  change(*store, {.id = {"a"}, .version = 7, .event = Event::wake});
  change(*store, {.id = {"a"}, .version = 8, .event = Event::fail});
  const auto spans = store->ledger({});
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].usd_per_hour == 0.25);
  CHECK(spans[0].to == spans[1].from);
  CHECK(spans[1].usd_per_hour == 0.5);
  CHECK(spans[1].to.has_value());
  CHECK(spans[2].from >= *spans[1].to);
  CHECK(spans[2].provider_id == "pod-1");
  CHECK(!spans[2].to);  // failed, but its pod still runs
  REQUIRE(store->remove({"a"}, 9, k_test));
  CHECK(store->ledger({}).back().to.has_value());
  CHECK(store->ledger(store->now() + k_minute).empty());
}

STORE_TEST("a paid span begins when the create is called, not when its answer is recorded") {
  const TestType place;
  const auto store = place.open();
  Gpu pod = gpu_row("a", State::starting);
  pod.source = Source::cloud;
  pod.usd_per_hour = 0.5;
  const Gpu row = add(*store, pod);
  const TimePoint called = row.created_at - k_minute;
  change(*store, {.id = row.id, .version = 1, .provider_id = "pod-1", .paid_since = called});
  REQUIRE(store->ledger({}).size() == 1);
  CHECK(store->ledger({})[0].from == called);
  // A new price follows the old one without overlap.
  change(*store, {.id = row.id, .version = 2, .usd_per_hour = 0.6, .paid_since = called});
  const auto spans = store->ledger({});
  REQUIRE(spans.size() == 2);
  CHECK(spans[1].from == spans[0].to);

  Gpu orphan = gpu_row("b", State::starting);
  orphan.source = Source::cloud;
  orphan.usd_per_hour = 0.5;
  orphan.provider_id = "pod-2";
  REQUIRE(store->add({.gpu = orphan, .paid_since = called}, k_test));
  CHECK(store->ledger({})[0].provider_id == "pod-1");
  for (const PaidSpan& span : store->ledger({})) {
    if (span.provider_id == "pod-2") CHECK(span.from == called);
  }
}
