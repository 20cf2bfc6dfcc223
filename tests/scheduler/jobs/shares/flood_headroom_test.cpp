// When slots are kept free from a flood, and for how long.
#include "scheduler/jobs/shares/flood_headroom.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "scheduler/jobs/shares/division.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_headroom_now{std::chrono::hours(24 * 365)};

// A tenant with so many jobs that wait beside two others, the second of which has submitted a minute ago.
std::vector<TenantLine> lines_with_flood(std::int64_t waiting) {
  std::vector<TenantLine> lines(3);
  lines[0].tenant = {"a"};
  lines[1] = {.tenant = {"b"}, .submitted_at = k_headroom_now - 1min};
  lines[2] = {.tenant = {"flood"},
              .queued_jobs = waiting - 4,
              .released_jobs = 4,
              .waits = {.jobs = 100},
              .submitted_at = k_headroom_now};
  return lines;
}

std::int64_t most_running(const std::vector<TenantLine>& lines, std::int64_t slots = 16) {
  return flood_headroom(lines, slots, k_headroom_now).most_running;
}

}  // namespace

TEST_CASE("one of eight slots is kept free from a flood, and none of fewer or of unknown ones") {
  const std::vector<TenantLine> lines = lines_with_flood(1000);
  const std::pair<std::int64_t, std::int64_t> most[] = {
      {0, 0}, {1, 0}, {7, 0}, {8, 7}, {15, 14}, {16, 14}, {23, 21}, {24, 21}, {80, 70}};
  for (const auto& [slots, running] : most) {
    CAPTURE(slots);
    CHECK(most_running(lines, slots) == running);
  }
  CHECK(flood_headroom(lines, 16, k_headroom_now) ==
        FloodHeadroom{
            .tenant = {"flood"}, .most_running = 14, .until = k_headroom_now + k_headroom_lasts});
  CHECK(most_running({}) == 0);
}

TEST_CASE("a tenant floods with sixteen jobs that wait, and with as many as there are slots") {
  CHECK(most_running(lines_with_flood(15)) == 0);
  CHECK(most_running(lines_with_flood(16)) == 14);
  CHECK(most_running(lines_with_flood(16), 8) == 7);
  CHECK(most_running(lines_with_flood(15), 8) == 0);
  CHECK(most_running(lines_with_flood(39), 40) == 0);
  CHECK(most_running(lines_with_flood(40), 40) == 35);
}

TEST_CASE("nothing is kept free while the others wait together, whatever the flood waits") {
  std::vector<TenantLine> lines = lines_with_flood(100);
  lines[0].waits.jobs = 0.07;
  lines[1].waits.jobs = 0.07;
  CHECK(most_running(lines) == 14);
  lines[1].waits.jobs = 0.09;
  CHECK(most_running(lines) == 0);
}

TEST_CASE("ten minutes after another tenant's last submission a flood has all slots") {
  std::vector<TenantLine> lines = lines_with_flood(100);
  lines[1].submitted_at = k_headroom_now - 10min + 3s;
  CHECK(flood_headroom(lines, 16, k_headroom_now).until == k_headroom_now + 3s);
  lines[1].submitted_at = k_headroom_now - 10min;
  CHECK(most_running(lines) == 0);
  lines[1].submitted_at = {};
  CHECK(most_running(lines) == 0);
  CHECK(most_running({lines[2]}) == 0);
}

TEST_CASE("a headroom holds back its tenant's jobs for the kept slots, until it ends") {
  const FloodHeadroom headroom{
      .tenant = {"flood"}, .most_running = 14, .until = k_headroom_now + k_headroom_lasts};
  CHECK_FALSE(headroom.holds_back({"flood"}, 13, k_headroom_now));
  CHECK(headroom.holds_back({"flood"}, 14, k_headroom_now));
  CHECK(headroom.holds_back({"flood"}, 16, k_headroom_now));
  CHECK_FALSE(headroom.holds_back({"a"}, 16, k_headroom_now));
  CHECK(headroom.room(14, k_headroom_now) == 0);
  CHECK(headroom.room(16, k_headroom_now) == 2);
  const TimePoint over = k_headroom_now + k_headroom_lasts;
  CHECK(headroom.holds_back({"flood"}, 14, over - 1us));
  CHECK_FALSE(headroom.holds_back({"flood"}, 14, over));
  CHECK(headroom.room(16, over) == 0);
  // Of a clock that was set back.
  CHECK_FALSE(headroom.holds_back({"flood"}, 16, k_headroom_now - 1us));
  CHECK(headroom.room(16, k_headroom_now - 1us) == 0);
  CHECK_FALSE(FloodHeadroom{}.holds_back({}, 16, TimePoint{}));
}

TEST_CASE("a turn counts who waits since the last one, and of a pause ten seconds at most") {
  const BatchCapacity capacity{.gpus = 16, .rate = 1};
  std::vector<TenantLine> lines(1);
  lines[0].queued_jobs = 3;
  lines[0].released_jobs = 1;
  divide(lines, capacity, k_headroom_now);
  CHECK(lines[0].waits.jobs == 0);
  divide(lines, capacity, k_headroom_now + 10s);
  const double first = 4 * (1 - std::exp(-10.0 / 1800));
  CHECK(lines[0].waits.jobs == Approx(first));
  divide(lines, capacity, k_headroom_now + 10s + 30min);
  CHECK(lines[0].waits.jobs == Approx(first * std::exp(-1) + first));
  lines[0].queued_jobs = lines[0].released_jobs = 0;
  divide(lines, capacity, k_headroom_now + 48h);
  CHECK(lines[0].waits.jobs == Approx(0).margin(1e-9));
}
