#include <catch2/catch.hpp>
#include <map>

#include "core/artifacts/ranges/range_plan.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

// Content of 100 bytes in ranges of 10, of which 40 may wait.
struct Plan {
  std::string content, written;
  std::map<std::uint64_t, std::string> ahead;
  RangePlan plan;
  RangePlan::Time now{};

  explicit Plan(std::size_t kept = 0, const std::vector<AheadFiles::Kept>& later = {},
                std::uint64_t least = 10)
      : content([] {
          std::string text;
          for (int i = 10; i < 60; ++i) text += std::to_string(i);
          return text;
        }()),
        written(content.substr(0, kept)),
        ahead([&] {
          std::map<std::uint64_t, std::string> all;
          for (const auto& [first, bytes] : later) all[first] = content.substr(first, bytes);
          return all;
        }()),
        plan(
            kept, content.size(), {.range = 10, .least = least, .ahead = 40},
            {.write = [this](std::string_view bytes) { written += bytes; },
             .keep = [this](std::uint64_t first, std::string_view bytes) { ahead[first] += bytes; },
             .write_kept =
                 [this](std::uint64_t first) { written += ahead.extract(first).mapped(); }},
            later) {}

  std::optional<std::pair<std::uint64_t, std::uint64_t>> next(std::size_t connection) {
    const auto range = plan.next(connection, now);
    if (!range) return std::nullopt;
    return std::pair(range->first, range->end);
  }
  bool receive(std::size_t connection, std::size_t first, std::size_t bytes) {
    return plan.receive(connection, content.substr(first, bytes), now);
  }
};

using Given = std::pair<std::uint64_t, std::uint64_t>;

}  // namespace

TEST_CASE("ranges that come in any order are written as one beginning") {
  Plan plan(5);
  CHECK(plan.next(0) == Given(5, 15));
  CHECK(plan.next(1) == Given(15, 25));
  CHECK(plan.receive(1, 15, 10));
  CHECK(plan.plan.release(1));
  CHECK(plan.written == plan.content.substr(0, 5));
  CHECK(plan.next(1) == Given(25, 35));
  CHECK(plan.receive(1, 25, 4));
  CHECK(plan.receive(0, 5, 3));
  CHECK(plan.written == plan.content.substr(0, 8));
  CHECK(plan.receive(0, 8, 7));
  CHECK(plan.written == plan.content.substr(0, 29));
  CHECK(plan.receive(1, 29, 6));
  CHECK(plan.written == plan.content.substr(0, 35));
}

TEST_CASE(
    "one connection alone fetches everything, and what it is sent beyond its range is dropped") {
  Plan plan;
  for (std::size_t first = 0; first < 90; first += 10) {
    CHECK(plan.next(0) == Given(first, first + 10));
    CHECK_FALSE(plan.receive(0, first, 11));
    CHECK(plan.plan.release(0));
  }
  CHECK(plan.next(0) == Given(90, 100));
  CHECK(plan.receive(0, 90, 10));
  CHECK(plan.plan.whole());
  CHECK(plan.written == plan.content);
  CHECK_FALSE(plan.next(0));
}

TEST_CASE("ranges that a killed process left are not fetched again") {
  Plan plan(5, {{.first = 5, .bytes = 3}, {.first = 12, .bytes = 4}, {.first = 16, .bytes = 10}});
  CHECK(plan.written == plan.content.substr(0, 8));
  CHECK(plan.next(0) == Given(8, 12));
  CHECK(plan.next(1) == Given(26, 36));
  CHECK(plan.receive(0, 8, 4));
  CHECK(plan.written == plan.content.substr(0, 26));
  CHECK(plan.ahead.empty());
}

TEST_CASE("no more waits than may, and what is given back comes first") {
  Plan plan;
  for (std::size_t i = 0; i < 4; ++i) CHECK(plan.next(i) == Given(10 * i, 10 * i + 10));
  CHECK_FALSE(plan.next(4));
  CHECK(plan.receive(0, 0, 4));
  CHECK_FALSE(plan.plan.release(0));
  CHECK(plan.next(4) == Given(4, 10));
  CHECK(plan.next(0) == Given(40, 50));
  CHECK_FALSE(plan.plan.release(1));
  CHECK(plan.next(5) == Given(10, 20));
  CHECK_FALSE(plan.next(6));
}

TEST_CASE("a slow connection loses the rest of its range to a faster one, an equal one does not") {
  const bool slow = GENERATE(true, false);
  Plan plan;
  plan.next(0);
  plan.receive(0, 0, slow ? 1 : 9);
  for (int i = 1; i < 5; ++i) {
    plan.next(1);
    plan.now += 1s;
    plan.receive(1, static_cast<std::size_t>(10 * i), 10);
    plan.plan.release(1);
  }
  const auto taken = plan.plan.next(1, plan.now);
  REQUIRE(taken.has_value() == slow);
  if (!slow) return;
  CHECK(taken->first == 1);
  CHECK(taken->end == 10);
  CHECK(taken->loser == 0);
  CHECK_FALSE(plan.receive(0, 1, 1));
  CHECK(plan.receive(1, 1, 9));
  CHECK(plan.written == plan.content.substr(0, 50));
}

TEST_CASE("a connection that sent nothing yet takes nothing over") {
  Plan plan;
  for (std::size_t i = 0; i < 4; ++i) plan.next(i);
  plan.now += 60s;
  CHECK_FALSE(plan.next(4));
}

TEST_CASE("a range is what its connection sends within two seconds, as far as that is known") {
  Plan plan(0, {}, 2);
  CHECK(plan.next(0) == Given(0, 2));
  CHECK(plan.next(1) == Given(2, 4));
  plan.now += 1s;
  CHECK(plan.receive(0, 0, 2));
  CHECK(plan.plan.release(0));
  CHECK(plan.next(0) == Given(4, 8));
  plan.now += 19s;
  CHECK(plan.receive(1, 2, 2));
  CHECK(plan.plan.release(1));
  CHECK(plan.next(1) == Given(8, 10));  // never less
  CHECK(plan.next(2) == Given(10, 12));
  CHECK(plan.receive(2, 10, 2));
  CHECK(plan.plan.release(2));
  CHECK(plan.next(2) == Given(12, 22));  // never more
}
