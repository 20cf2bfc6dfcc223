#include "scheduler/pool/fail_row.h"

#include <catch2/catch.hpp>

#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

const Cause k_cause{"test", "broke"};

bool always(const Gpu&) { return true; }

}  // namespace

TEST_CASE("a failed row has the reason as last error, and keeps its price and its intent") {
  SmallPool pool;
  Gpu wanted = new_gpu(pool.identity, Source::cloud);
  wanted.state = State::idle;
  wanted.usd_per_hour = 0.5;
  const Gpu gpu = pool.wanting(Source::cloud, Operation::pause, wanted);
  REQUIRE(fail_row(*pool.store, gpu, {.cause = k_cause}));
  const Gpu row = pool.row(gpu);
  CHECK(row.state == State::failed);
  CHECK(row.last_error == "broke");
  CHECK(row.usd_per_hour == gpu.usd_per_hour);
  CHECK(row.intent == gpu.intent);
  CHECK(pool.store->attempts({}).empty());
}

TEST_CASE("a failure may say more, end the intent and the price") {
  SmallPool pool;
  Gpu wanted = new_gpu(pool.identity, Source::cloud);
  wanted.usd_per_hour = 0.5;
  const Gpu gpu = pool.wanting(Source::cloud, Operation::create, wanted);
  REQUIRE(fail_row(
      *pool.store, gpu.id,
      {.cause = k_cause, .last_error = "no such type", .clear_intent = true, .costs_nothing = true},
      always));
  const Gpu row = pool.row(gpu);
  CHECK(row.last_error == "no such type");
  CHECK(row.intent == Intent{.number = gpu.intent.number});
  CHECK(row.usd_per_hour == 0);
}

TEST_CASE("only a row that was starting has an outcome of its start") {
  SmallPool pool;
  const RowFailure late{.cause = k_cause, .start = Attempt::Result::timed_out};
  REQUIRE(fail_row(*pool.store, pool.pod(State::idle, "a"), late));
  CHECK(pool.store->attempts({}).empty());
  const Gpu starting = pool.pod(State::starting, "b");
  REQUIRE(fail_row(*pool.store, starting, late));
  const auto attempts = pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].gpu == starting.id);
  CHECK(attempts[0].operation == Operation::create);
  CHECK(attempts[0].result == Attempt::Result::timed_out);
  CHECK(attempts[0].detail == "broke");
}

TEST_CASE("a row that changed since it was read does not fail, one that may fail as it is does") {
  SmallPool pool;
  const Gpu read = pool.pod(State::starting, "a");
  const RowFailure failure{.cause = k_cause, .start = Attempt::Result::failed};
  REQUIRE(pool.store->change({.id = read.id, .version = read.version, .draining = true}, k_cause));
  CHECK_FALSE(fail_row(*pool.store, read, failure));
  CHECK_FALSE(
      fail_row(*pool.store, read.id, failure, [](const Gpu& row) { return !row.draining; }));
  CHECK_FALSE(fail_row(*pool.store, {"gone"}, failure, always));
  CHECK(pool.row(read).state == State::starting);
  CHECK(pool.store->attempts({}).empty());
  CHECK(fail_row(*pool.store, read.id, failure, always));
  CHECK(pool.row(read).state == State::failed);
}
