// The store's contract: GPU rows, compare-and-set, events, the scaler's lease.
#include "core/base/error.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

Gpu full_row() {
  return {.id = {"a"},
          .name = "navtalk-test-a",
          .source = Source::cloud,
          .state = State::starting,
          .draining = true,
          .dedicated_to = {"acme"},
          .slots = 3,
          .host = "host-1",
          .device = "NVIDIA L4",
          .url = "http://127.0.0.1:9",
          .provider_id = "pod 'x'",
          .usd_per_hour = 0.1,
          .created_at = TimePoint(Duration(11)),
          .since = TimePoint(Duration(12)),
          .seen_at = TimePoint(Duration(13)),
          .misses = 2,
          .missed_since = TimePoint(Duration(16)),
          .last_error = "line\nbreak \"quoted\"",
          .reserved_for = {"waiter"},
          .intent = {.operation = Operation::create,
                     .number = 7,
                     .owner = "executor",
                     .until = TimePoint(Duration(14)),
                     .called = true,
                     .since = TimePoint(Duration(15)),
                     .tries = 2},
          .operator_pause = 6,
          .epoch = 5,
          .version = 9};
}

}  // namespace

STORE_TEST("a GPU row comes back as it was added") {
  const TestType place;
  const auto store = place.open();
  CHECK(add(*store, full_row()) == full_row());
  CHECK(store->find({"a"}) == full_row());
  CHECK(store->view().gpus == std::vector{full_row()});
  CHECK(!store->find({"b"}));
}

STORE_TEST("what a new row leaves open, the store sets") {
  const TestType place;
  const auto store = place.open();
  const TimePoint before = store->now();
  const Gpu row = add(*store, gpu_row("a"));
  CHECK(row.version == 1);
  CHECK(row.epoch == 0);
  CHECK(row.created_at >= before);
  CHECK(row.since == row.created_at);
  CHECK(row.seen_at == TimePoint{});
}

STORE_TEST("an id or a name is taken once") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  Gpu same_name = gpu_row("b");
  same_name.name = "navtalk-test-a";
  test::expect_error(Code::invalid, {"a", "in the pool already"},
                     [&] { add(*store, gpu_row("a")); });
  test::expect_error(Code::invalid, {"in the pool already"}, [&] { add(*store, same_name); });
  CHECK(store->view().gpus.size() == 1);
}

STORE_TEST("a row that is added only under a new name is not added twice") {
  const TestType place;
  const auto store = place.open();
  const Gpu first = gpu_row("a");
  Gpu second = gpu_row("b");
  second.name = first.name;
  CHECK(store->add({.gpu = first, .if_new_name = true}, k_test));
  CHECK(!place.open()->add({.gpu = second, .if_new_name = true}, k_test));
  CHECK(store->view().gpus.size() == 1);
}

STORE_TEST("the view is ordered by age, then id") {
  const TestType place;
  const auto store = place.open();
  for (const auto& [id, age] : {std::pair("c", 2), {"b", 1}, {"a", 2}}) {
    Gpu gpu = gpu_row(id);
    gpu.created_at = TimePoint(Duration(age));
    add(*store, gpu);
  }
  std::string order;
  for (const Gpu& gpu : store->view().gpus) order += gpu.id.text;
  CHECK(order == "bac");
}

STORE_TEST("a change needs the row's version, raises it, and leaves the rest as it was") {
  const TestType place;
  const auto store = place.open();
  const Gpu before = add(*store, full_row());
  const auto row =
      store->change({.id = {"a"}, .version = 9, .event = Event::ready, .url = "http://u"}, k_test);
  REQUIRE(row);
  Gpu expected = before;
  expected.state = State::idle;
  expected.seen_at = row->since;  // ready is an answer
  expected.misses = 0;
  expected.missed_since = {};
  expected.url = "http://u";
  expected.version = 10;
  expected.since = row->since;
  CHECK(*row == expected);
  CHECK(row->since > before.since);
  CHECK(store->find({"a"}) == expected);
  CHECK(!store->change({.id = {"a"}, .version = 9, .draining = false}, k_test));
  CHECK(!store->change({.id = {"gone"}, .version = 1, .draining = false}, k_test));
  CHECK(store->find({"a"}) == expected);
}

STORE_TEST("every field of a row can be changed") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::starting));
  const Gpu wanted = full_row();
  const Gpu row = change(*store, {.id = {"a"},
                                  .version = 1,
                                  .draining = true,
                                  .url = wanted.url,
                                  .provider_id = wanted.provider_id,
                                  .device = wanted.device,
                                  .last_error = wanted.last_error,
                                  .host = wanted.host,
                                  .slots = 3,
                                  .usd_per_hour = 0.1,
                                  .intent = wanted.intent,
                                  .reserved_for = wanted.reserved_for,
                                  .operator_pause = wanted.operator_pause});
  CHECK(row.draining);
  CHECK(row.url == wanted.url);
  CHECK(row.provider_id == wanted.provider_id);
  CHECK(row.device == wanted.device);
  CHECK(row.last_error == wanted.last_error);
  CHECK(row.host == wanted.host);
  CHECK(row.slots == 3);
  CHECK(row.usd_per_hour == 0.1);
  CHECK(row.intent == wanted.intent);
  CHECK(row.reserved_for == wanted.reserved_for);
  CHECK(row.operator_pause == wanted.operator_pause);
  CHECK(store->find({"a"}) == row);
}

STORE_TEST("an event that cannot happen changes nothing") {
  const TestType place;
  const auto store = place.open();
  const Gpu row = add(*store, gpu_row("a"));
  test::expect_error(Code::failed, {"a", "idle", "wake"}, [&] {
    store->change({.id = {"a"}, .version = 1, .event = Event::wake, .url = "http://u"}, k_test);
  });
  test::expect_error(Code::failed, {"claim"}, [&] {
    store->change({.id = {"a"}, .version = 1, .event = Event::session_opened}, k_test);
  });
  CHECK(store->find({"a"}) == row);
}

STORE_TEST("every change of state leaves an event that says who, why, from and to") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::starting));
  add(*store, gpu_row("b", State::starting));
  change(*store, {.id = {"a"}, .version = 1, .event = Event::ready});
  change(*store, {.id = {"a"}, .version = 2, .url = "http://no-event"});
  const Lease lease = claimed(*store, user("u"));
  REQUIRE(store->release(lease.id, lease.epoch));
  change(*store, {.id = {"a"}, .version = found(*store, "a").version, .event = Event::destroy});
  REQUIRE(store->remove({"a"}, found(*store, "a").version, {"scaler", "too many"}));

  using S = State;
  const std::vector<std::pair<std::optional<S>, std::optional<S>>> expected = {
      {std::nullopt, S::starting}, {S::starting, S::idle}, {S::idle, S::running},
      {S::running, S::idle},       {S::idle, S::stopping}, {S::stopping, std::nullopt}};
  const auto events = store->events({.gpu = GpuId{"a"}});
  REQUIRE(events.size() == expected.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].from == expected[i].first);
    CHECK(events[i].to == expected[i].second);
    if (i > 0) CHECK(events[i].number > events[i - 1].number);
  }
  CHECK(events.front().who == k_test.who);
  CHECK(events.front().why == k_test.why);
  CHECK(events[2].who == "gateway-1");
  CHECK(events.back().why == "too many");
  CHECK(store->events({}).size() == expected.size() + 1);
}

STORE_TEST("events are asked for by number, time and count, the newest first to stay") {
  const TestType place;
  const auto store = place.open();
  for (const char* id : {"a", "b", "c"}) add(*store, gpu_row(id));
  const auto all = store->events({});
  REQUIRE(all.size() == 3);
  CHECK(store->events({.after = all[1].number}).size() == 1);
  const auto newest = store->events({.limit = 2});
  REQUIRE(newest.size() == 2);
  CHECK(newest[0].gpu.text == "b");
  CHECK(store->events({.since = all[0].at}).size() == 3);
  CHECK(store->events({.since = all[2].at + k_minute}).empty());
}

STORE_TEST("only a row that failed or stops can be removed, at its version, without sessions") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  test::expect_error(Code::failed, {"a", "idle"}, [&] { store->remove({"a"}, 1, k_test); });
  const Lease lease = claimed(*store, user("u"));
  change(*store, {.id = {"a"}, .version = found(*store, "a").version, .event = Event::fail});
  test::expect_error(Code::failed, {"sessions"},
                     [&] { store->remove({"a"}, found(*store, "a").version, k_test); });
  REQUIRE(store->release(lease.id, lease.epoch));
  CHECK(!store->remove({"a"}, 1, k_test));
  CHECK(store->remove({"a"}, found(*store, "a").version, k_test));
  CHECK(!store->remove({"a"}, 1, k_test));
  CHECK(!store->find({"a"}));

  Gpu external = gpu_row("e");
  external.source = Source::external;
  add(*store, external);
  CHECK(store->remove({"e"}, 1, k_test));
}

STORE_TEST("one scaler holds the lease, and a higher fence shuts the earlier one out") {
  const TestType place;
  const auto store = place.open();
  const auto first = store->hold_scaler("one", k_minute);
  REQUIRE(first);
  CHECK(!store->hold_scaler("two", k_minute));
  CHECK(store->hold_scaler("one", k_minute) == first);
  CHECK(store->add({.gpu = gpu_row("a"), .fence = *first}, k_test));
  CHECK(store->change({.id = {"a"}, .version = 1, .draining = true, .fence = *first}, k_test));

  store->yield_scaler("two");  // not its to give
  CHECK(!store->hold_scaler("two", k_minute));
  store->yield_scaler("one");
  CHECK(!store->add({.gpu = gpu_row("b"), .fence = *first}, k_test));
  const auto second = store->hold_scaler("two", k_minute);
  REQUIRE(second);
  CHECK(*second > *first);
  CHECK(!store->change({.id = {"a"}, .version = 2, .draining = false, .fence = *first}, k_test));
  CHECK(!store->add({.gpu = gpu_row("b"), .fence = *first}, k_test));
  CHECK(store->add({.gpu = gpu_row("b"), .fence = *second}, k_test));
}

STORE_TEST("a scaler whose lease expired is followed by the next") {
  const TestType place;
  const auto store = place.open();
  const auto first = store->hold_scaler("one", k_moment);
  const auto second = store->hold_scaler("two", k_minute);
  REQUIRE((first && second));
  CHECK(*second > *first);
  CHECK(!store->hold_scaler("one", k_minute));
}

STORE_TEST("a GPU that is ready again while sessions hold it is running") {
  const TestType place;
  const auto store = place.open();
  Gpu external = gpu_row("a", State::idle, 2);
  external.source = Source::external;
  add(*store, external);
  const Lease lease = claimed(*store, user("u"));
  change(*store, {.id = {"a"}, .version = found(*store, "a").version, .event = Event::fail});
  CHECK(!store->claim(user("v"), k_minute));
  change(*store, {.id = {"a"}, .version = found(*store, "a").version, .event = Event::ready});
  CHECK(found(*store, "a").state == State::running);
  REQUIRE(store->release(lease.id, lease.epoch));
  CHECK(found(*store, "a").state == State::idle);
}

STORE_TEST("a local device has one row, until that is removed") {
  const TestType place;
  const auto store = place.open();
  Gpu first = gpu_row("first", State::failed);
  first.host = "here";
  first.device = "cuda:0";
  first = add(*store, first);
  Gpu second = first;
  second.id = {"second"};
  second.name = "navtalk-test-second";
  second.version = 0;
  CHECK(!store->add({.gpu = second}, k_test));
  Gpu elsewhere = second;
  elsewhere.host = "there";
  CHECK(store->add({.gpu = elsewhere}, k_test));
  REQUIRE(store->remove(first.id, first.version, k_test));
  second.id = {"third"};
  second.name = "navtalk-test-third";
  CHECK(store->add({.gpu = second}, k_test));
}

STORE_TEST("a registered worker's URL has one row, however it is written") {
  const TestType place;
  const auto store = place.open();
  const auto external = [](const std::string& id, const std::string& url) {
    Gpu gpu = gpu_row(id);
    gpu.source = Source::external;
    gpu.url = url;
    return gpu;
  };
  const Gpu first = add(*store, external("first", "http://Example:80/a/"));
  for (const char* const same :
       {"http://Example:80/a/", "HTTP://example/a", "http://example:80/a"}) {
    INFO(same);
    test::expect_error(Code::invalid, {same, "first"},
                       [&] { store->add({.gpu = external("second", same)}, k_test); });
  }
  CHECK(store->view().gpus.size() == 1);
  add(*store, external("other", "http://example:81/a"));
  // A pod's place is nobody else's either.
  Gpu pod = gpu_row("pod");
  pod.source = Source::cloud;
  pod.url = "https://pod.example";
  add(*store, pod);
  CHECK_THROWS_AS(store->add({.gpu = external("alias", "https://pod.example:443/")}, k_test),
                  Error);
  REQUIRE(store->remove(first.id, first.version, k_test));
  add(*store, external("again", "http://example/a"));
}
