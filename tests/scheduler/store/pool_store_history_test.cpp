// The store's contract: what it remembers, settings, and forgetting.
#include <algorithm>

#include "core/base/error.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/transaction.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

STORE_TEST("attempts and decisions come back by time") {
  const TestType place;
  const auto store = place.open();
  const TimePoint t0{std::chrono::hours(1)};
  store->record(Attempt{t0 + k_minute,
                        {"b"},
                        Source::cloud,
                        Operation::wake,
                        Attempt::Result::timed_out,
                        Duration(5),
                        "secure cloud"});
  store->record(
      Attempt{t0, {"a"}, Source::local, Operation::create, Attempt::Result::ok, Duration(7), ""});
  const auto attempts = store->attempts(t0);
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].gpu.text == "a");
  CHECK(attempts[0].took == Duration(7));
  CHECK(attempts[1].at == t0 + k_minute);
  CHECK(attempts[1].source == Source::cloud);
  CHECK(attempts[1].operation == Operation::wake);
  CHECK(attempts[1].result == Attempt::Result::timed_out);
  CHECK(attempts[1].detail == "secure cloud");
  CHECK(store->attempts(t0 + Duration(1)).size() == 1);

  store->record(Decision{t0, "adaptive", true, 5, 4, 3, 2, true, "wake local-1"});
  const auto decisions = store->decisions(t0);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].policy == "adaptive");
  CHECK(decisions[0].shadow);
  CHECK(decisions[0].target == 5);
  CHECK(decisions[0].supply == 4);
  CHECK(decisions[0].busy == 3);
  CHECK(decisions[0].queued == 2);
  CHECK(decisions[0].cloud);
  CHECK(decisions[0].actions == "wake local-1");
  CHECK(store->decisions(t0 + Duration(1)).empty());
}

STORE_TEST("a setting is set, replaced, and swapped only from what it is") {
  const TestType place;
  const auto store = place.open();
  CHECK(!store->setting("pool"));
  CHECK(!store->swap_setting("pool", "x", "y"));
  CHECK(store->swap_setting("pool", std::nullopt, "one"));
  CHECK(!store->swap_setting("pool", std::nullopt, "two"));
  CHECK(store->setting("pool") == "one");
  CHECK(store->swap_setting("pool", "one", "two"));
  store->set_setting("pool", "three");
  CHECK(place.open()->setting("pool") == "three");
}

STORE_TEST("forget deletes what is older and keeps what is open, and numbers go on") {
  const TestType place;
  const auto store = place.open();
  Gpu pod = gpu_row("pod");
  pod.source = Source::cloud;
  pod.provider_id = "p";
  pod.usd_per_hour = 1;
  add(*store, pod);
  change(*store, {.id = {"pod"}, .version = 1, .usd_per_hour = 2.0});
  add(*store, gpu_row("a"));
  const TimePoint t0{std::chrono::hours(1)};
  store->record(Attempt{t0, {"a"}});
  store->record(Promise{{"w"}, t0, k_minute});
  store->record(Decision{t0, "static"});
  const Lease lease = claimed(*store, user("u"));
  store->release(lease.id, lease.epoch);
  const auto last = store->events({}).back();

  store->forget(store->now() + k_minute, store->now() + k_minute);
  CHECK(store->attempts({}).empty());
  CHECK(store->promises({}).empty());
  CHECK(store->decisions({}).empty());
  CHECK(store->demand({}).empty());
  REQUIRE(store->ledger({}).size() == 1);
  CHECK(!store->ledger({})[0].to);
  CHECK(store->events({}).size() == 1);
  add(*store, gpu_row("b"));
  CHECK(store->events({.after = last.number}).size() == 1);
  CHECK(store->view().gpus.size() == 3);
}

STORE_TEST("a paid span ends no earlier than it began, also after the clock was set back") {
  const TestType place;
  const auto store = place.open();
  Gpu pod = gpu_row("pod");
  pod.source = Source::cloud;
  pod.provider_id = "p";
  pod.usd_per_hour = 1;
  add(*store, pod);
  StoreBackend::open(place.url())->write(Durability::durable, [](Transaction& t) {
    t.db.run("UPDATE paid_spans SET started_at = started_at + $1",
             {column::of(Duration(std::chrono::hours(1)))});
  });
  change(*store, {.id = {"pod"}, .version = 1, .usd_per_hour = 2.0});
  const auto spans = store->ledger({});
  REQUIRE(spans.size() == 2);
  for (const PaidSpan& span : spans) CHECK(span.to.value_or(span.from) >= span.from);
  CHECK(std::ranges::count_if(spans, [](const PaidSpan& span) { return !span.to; }) == 1);
}

STORE_TEST("the clock goes on, also for processes that open the store later") {
  const TestType place;
  const auto store = place.open();
  const TimePoint first = store->now();
  const TimePoint second = place.open()->now();
  CHECK(second >= first);
  CHECK(store->now() >= second);
  CHECK(second - first < k_minute);
}

TEST_CASE("a store's address that cannot be used is refused without its password") {
  for (const char* url : {"", "sqlite:", "mysql://me:secret@host/db", "/tmp/pool.db"}) {
    const Error error = test::error_of([&] { PoolStore::open(url); });
    CHECK(error.code() == Code::invalid);
    CHECK(error.message().find("secret") == std::string::npos);
  }
}
