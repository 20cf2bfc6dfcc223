// The contract of PoolStore: results of probes, and who gets a GPU that does not answer.
#include <catch2/catch.hpp>
#include <optional>
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
  store->seen({{{"a"}}}, at(20));
  store->seen({{{"a"}}}, at(10));
  Gpu expected = before;
  expected.seen_at = at(20);
  CHECK(store->find({"a"}) == expected);
  CHECK(store->events({}).size() == 1);
}

STORE_TEST("a good answer's reading is kept with its time, and is not a change either") {
  const TestType place;
  const auto store = place.open();
  Gpu expected = add(*store, gpu_row("a"));
  CHECK(expected.reading == GpuReading{});
  GpuReading reading{.memory_used = (std::uint64_t{1} << 37) + 1,
                     .memory_total = std::uint64_t{141} << 30,
                     .load_percent = 97,
                     .temperature_c = -3};
  store->seen({{{"a"}, reading}}, at(20));
  expected.seen_at = reading.at = at(20);
  expected.reading = reading;
  CHECK(found(*store, "a") == expected);
  store->seen({{{"a"}, GpuReading{.memory_total = 1}}}, at(10));  // an older one came late
  CHECK(found(*store, "a") == expected);
  store->seen({{{"a"}}}, at(30));  // one without a reading
  expected.seen_at = at(30);
  CHECK(found(*store, "a") == expected);
  store->missed({{{"a"}, "silent"}}, at(35));
  store->seen({{{"a"}, GpuReading{.memory_used = 1, .memory_total = 2}}}, at(40));
  expected.seen_at = at(40);
  expected.reading = {.memory_used = 1, .memory_total = 2, .at = at(40)};
  CHECK(found(*store, "a") == expected);
  CHECK(store->events({}).size() == 1);
  CHECK(change(*store, {.id = {"a"}, .version = 1, .draining = true}).reading == expected.reading);
  CHECK(found(*store, "a").reading == expected.reading);
}

STORE_TEST("an answer ends the misses also after the clock was set back") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  const std::optional<GpuReading> reading =
      GENERATE(std::optional<GpuReading>(), std::optional(GpuReading{.memory_total = 1}));
  store->seen({{{"a"}, reading}}, store->now() + std::chrono::hours(1));
  miss(*store, "a", 2);
  const TimePoint answered = store->now();
  store->seen({{{"a"}, reading}}, answered);
  CHECK(found(*store, "a").misses == 0);
  CHECK(found(*store, "a").seen_at == answered);
  store->seen({{{"a"}, reading}}, answered - k_minute);  // an older one came late
  CHECK(found(*store, "a").seen_at == answered);
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
  store->seen({{{"a"}}}, at(40));
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
  std::vector<GoodAnswer> answers;
  std::vector<Miss> misses;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(add(*store, gpu_row("g" + std::to_string(i))).id);
    misses.push_back({ids.back(), "silent"});
    answers.push_back({ids.back()});
    if (i % 3 != 0) answers.back().reading = GpuReading{.memory_used = i, .memory_total = 1000 + i};
  }
  add(*store, gpu_row("other"));
  const auto rows = store->missed(misses, at(10));
  REQUIRE(rows.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(rows[i].id == ids[i]);
    CHECK(rows[i].misses == 1);
  }
  store->seen(answers, at(20));
  store->seen({}, at(20));
  for (std::size_t i = 0; i < count; ++i) {
    const Gpu gpu = found(*store, ids[i].text);
    CHECK(gpu.seen_at == at(20));
    CHECK(gpu.misses == 0);
    GpuReading expected = answers[i].reading.value_or(GpuReading{});
    if (answers[i].reading) expected.at = at(20);
    CHECK(gpu.reading == expected);
  }
  CHECK(store->find({"other"})->seen_at == TimePoint{});
  CHECK(store->find({"other"})->misses == 0);
  CHECK(store->find({"other"})->reading == GpuReading{});
}

STORE_TEST("a starting GPU is seen when it is ready, and its misses end then") {
  const TestType place;
  const auto store = place.open();
  const Gpu gpu = add(*store, gpu_row("a", State::starting));
  store->seen({{gpu.id, GpuReading{.memory_total = 8}}}, at(20));
  CHECK(store->find(gpu.id)->seen_at == TimePoint{});
  CHECK(store->find(gpu.id)->reading == GpuReading{.memory_total = 8, .at = at(20)});
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
  store->seen({{{"silent"}}}, store->now());
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
