#include "server/worker/session/slot_table.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;
using Verdict = SlotAnswer::Verdict;

namespace {

struct Step {
  const char* lease;
  std::uint64_t epoch;
  std::optional<int> slot;
  Verdict expected;
  int at = 0;
  bool ends = false;  // an older session
};

void play(SlotTable& table, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const SlotAnswer answer =
        table.open({.lease = step.lease, .epoch = step.epoch, .slot = step.slot});
    INFO(step.lease << " " << step.epoch);
    CHECK(answer.verdict == step.expected);
    if (step.expected != Verdict::opened) continue;
    CHECK(answer.slot == step.at);
    CHECK(answer.ended.has_value() == step.ends);
  }
}

}  // namespace

TEST_CASE("a slot accepts the highest epoch it has seen") {
  SlotTable table(2);
  play(table, {{"a", 5, 0, Verdict::opened, 0},
               {"b", 4, 0, Verdict::stale},
               {"b", 5, 0, Verdict::stale},            // the epoch of another lease
               {"a", 5, 0, Verdict::opened, 0, true},  // the same lease connects again
               {"c", 6, 0, Verdict::opened, 0, true},
               {"a", 5, 0, Verdict::stale},
               {"b", 4, 1, Verdict::opened, 1},  // the other slot has seen nothing
               {"d", 9, 2, Verdict::no_such_slot},
               {"d", 9, -1, Verdict::no_such_slot}});
  CHECK(table.sessions() == 2);
}

TEST_CASE("a slot remembers its epoch when the session is over") {
  SlotTable table(1);
  const SlotAnswer first = table.open({.lease = "a", .epoch = 5, .slot = 0});
  table.close(first.session);
  CHECK(table.sessions() == 0);
  play(table, {{"b", 4, 0, Verdict::stale}, {"b", 6, 0, Verdict::opened, 0}});
}

TEST_CASE("a session that was ended by a newer one does not free the slot when it goes") {
  SlotTable table(1);
  const SlotAnswer old = table.open({.lease = "a", .epoch = 1});
  const SlotAnswer now = table.open({.lease = "b", .epoch = 2});
  REQUIRE(now.ended == old.session);
  table.close(old.session);
  CHECK(table.sessions() == 1);
  table.close(now.session);
  CHECK(table.sessions() == 0);
}

TEST_CASE("a worker of one slot uses it for requests that name none") {
  SlotTable table(1);
  play(table, {{"a", 5, {}, Verdict::opened, 0},
               {"b", 4, {}, Verdict::stale},
               {"b", 6, {}, Verdict::opened, 0, true}});
}

TEST_CASE(
    "a worker of several slots uses the lease's own for requests that name none, otherwise a free "
    "one") {
  SlotTable table(2);
  play(table, {{"a", 5, {}, Verdict::opened, 0},
               {"b", 6, {}, Verdict::opened, 1},
               {"c", 7, {}, Verdict::full},
               {"a", 5, {}, Verdict::opened, 0, true},
               {"a", 4, {}, Verdict::stale}});
}

TEST_CASE("a request that names no slot is stale if every free slot has seen a higher epoch") {
  SlotTable table(2);
  const SlotAnswer a = table.open({.lease = "a", .epoch = 8, .slot = 0});
  table.open({.lease = "b", .epoch = 9, .slot = 1});
  table.close(a.session);
  play(table, {{"late", 7, {}, Verdict::stale}, {"new", 10, {}, Verdict::opened, 0}});
}
