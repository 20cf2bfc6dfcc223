#include "scheduler/pool/drain_notices.h"

#include <catch2/catch.hpp>

#include "scheduler/provision/operator_actions.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("an operator's drain gives notice, the next one replaces it, and an undo withdraws it") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::idle, "a"), other = pool.pod(State::idle, "b");
  const TimePoint before = pool.store->now();
  drain_gpu(*pool.store, gpu.id.text, 1h, "me");
  drain_gpu(*pool.store, other.id.text, 2h, "me");
  drain_gpu(*pool.store, gpu.id.text, 60s, "me");
  const auto notices = k_drain_notices.read(*pool.store);
  REQUIRE(notices);
  REQUIRE(notices->size() == 2);
  CHECK(notices->at(0).gpu == other.id);
  CHECK(notices->at(1).gpu == gpu.id);
  CHECK(notices->at(1).ends_at >= before + 60s);
  CHECK(notices->at(1).ends_at < before + 1h);
  undrain_gpu(*pool.store, gpu.id.text, "me");
  CHECK(k_drain_notices.read(*pool.store)->size() == 1);
}

TEST_CASE("notices of GPUs that are gone are forgotten with the next one") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::idle, "a");
  k_drain_notices.write(*pool.store, {{.gpu = {"gone"}}});
  drain_gpu(*pool.store, gpu.id.text, 1h, "me");
  const auto notices = k_drain_notices.read(*pool.store);
  REQUIRE(notices->size() == 1);
  CHECK(notices->at(0).gpu == gpu.id);
}

TEST_CASE("notices are the same when they are written and read again, and garbage is none") {
  const DrainNotices notices = {{.gpu = {"a"}, .ends_at = TimePoint(7us)}, {.gpu = {"b"}}};
  CHECK(parse_drain_notices(as_text(notices)) == notices);
  CHECK_FALSE(parse_drain_notices("{"));
  CHECK_FALSE(parse_drain_notices("{}"));
  CHECK(parse_drain_notices(R"([7, {"gpu": 1}, {"gpu": "a"}])")->empty());
}
