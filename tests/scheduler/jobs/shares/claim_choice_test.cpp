// The order between tenants.
#include "scheduler/jobs/shares/claim_choice.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_claimed_from{std::chrono::hours(24 * 365)};

// Claims so many jobs of tenants that always have one; each job has its tenant's length.
std::vector<double> work_of(std::vector<ClaimCandidate> tenants, const std::vector<Duration>& jobs,
                            int claims) {
  VirtualTimes times;
  std::vector<double> work(tenants.size());
  for (int i = 0; i < claims; ++i) {
    const auto chosen = choose(tenants, times, k_claimed_from);
    REQUIRE(chosen);
    tenants[*chosen].place = place_after(tenants[*chosen], VideoMinutes(jobs[*chosen]), times);
    work[*chosen] += VideoMinutes(jobs[*chosen]).count();
  }
  return work;
}

}  // namespace

TEST_CASE("tenants get video-minutes by weight, whatever the lengths of their jobs") {
  const auto work = work_of({{.order = 1, .weight = 1, .waits_since = k_claimed_from},
                             {.order = 2, .weight = 1, .waits_since = k_claimed_from},
                             {.order = 3, .weight = 2, .waits_since = k_claimed_from}},
                            {1min, 10min, 3min}, 5000);
  CHECK(work[1] == Approx(work[0]).epsilon(0.01));
  CHECK(work[2] == Approx(2 * work[0]).epsilon(0.01));
}

TEST_CASE("a tenant who pauses saves nothing up") {
  VirtualTimes times;
  ClaimCandidate busy{.order = 1, .waits_since = k_claimed_from},
      late{.order = 2, .waits_since = k_claimed_from};
  for (int i = 0; i < 100; ++i) busy.place = place_after(busy, VideoMinutes(1min), times);
  int in_a_row = 0;
  for (; in_a_row < 50; ++in_a_row) {
    const std::vector<ClaimCandidate> both = {busy, late};
    if (choose(both, times, k_claimed_from) != 1) break;
    late.place = place_after(late, VideoMinutes(1min), times);
  }
  CHECK(in_a_row <= 2);
  CHECK(in_a_row >= 1);
}

TEST_CASE("a higher plan is served first, until another has waited for a minute") {
  const std::vector<ClaimCandidate> both = {
      {.order = 1, .plan = 0, .waits_since = k_claimed_from},
      {.order = 2, .plan = 5, .place = {.finished = 1000}, .waits_since = k_claimed_from}};
  CHECK(choose(both, {}, k_claimed_from + 59s) == 1);
  CHECK(choose(both, {}, k_claimed_from + 60s) == 0);
  std::vector<ClaimCandidate> older = both;
  older[1].waits_since -= 1s;
  CHECK(choose(older, {}, k_claimed_from + 60s) == 1);
}

TEST_CASE("within a plan no wait overtakes the fair order, so a backlog does not hold others up") {
  const std::vector<ClaimCandidate> both = {
      {.order = 1, .place = {.finished = 100}, .waits_since = k_claimed_from - 1h},
      {.order = 2, .place = {.finished = 50}, .waits_since = k_claimed_from}};
  CHECK(choose(both, {}, k_claimed_from) == 1);
}

TEST_CASE(
    "a tenant that has its part of the slots comes after those that have less, whatever its plan") {
  const std::vector<ClaimCandidate> both = {
      {.order = 1, .plan = 5, .waits_since = k_claimed_from - 1h, .below = false},
      {.order = 2, .place = {.finished = 50}, .waits_since = k_claimed_from}};
  CHECK(choose(both, {}, k_claimed_from) == 1);
}

TEST_CASE("among nobody there is no choice") { CHECK_FALSE(choose({}, {}, k_claimed_from)); }
