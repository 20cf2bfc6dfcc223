#include "scheduler/health/outage_rule.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_now{std::chrono::hours(500000)};
constexpr Duration k_grace = 15s;

// So many misses in a row, the first one so long ago.
Gpu pod(int misses, Duration ago = 15s) {
  return {.source = Source::cloud,
          .state = State::idle,
          .url = "http://127.0.0.1:9",
          .provider_id = "pod",
          .since = k_now - 1h,
          .misses = misses,
          .missed_since = k_now - ago};
}

Gpu failed(int misses, Duration ago) {
  Gpu gpu = pod(misses);
  gpu.state = State::failed;
  gpu.since = k_now - ago;
  return gpu;
}

OriginAnswers count(const std::vector<Gpu>& gpus, const Outage& outage = {}) {
  return count_answers(gpus, Origin::runpod, outage, k_grace, k_now);
}

}  // namespace

TEST_CASE("an outage is at least three GPUs and more than half of a source, as long as it lasts") {
  const auto [gpus, missing, on] = GENERATE(table<int, int, bool>({{0, 0, false},
                                                                   {1, 1, false},
                                                                   {2, 2, false},
                                                                   {3, 2, false},
                                                                   {3, 3, true},
                                                                   {4, 2, false},
                                                                   {4, 3, true},
                                                                   {6, 3, false},
                                                                   {6, 4, true},
                                                                   {100, 50, false},
                                                                   {100, 51, true}}));
  const bool before = GENERATE(false, true);
  CAPTURE(gpus, missing, before);
  const Outage known{.on = before, .since = k_now - 1h};
  const Outage after = judge(known, {.gpus = gpus, .missing = missing}, k_now);
  CHECK(after.on == on);
  CHECK(after.since == (on == before ? known.since : k_now));
}

TEST_CASE("most of one to three cloud GPUs that miss for less than ten minutes are an outage") {
  const auto [gpus, lately, on] = GENERATE(table<int, int, bool>({{0, 0, false},
                                                                  {1, 0, false},
                                                                  {1, 1, true},
                                                                  {2, 1, false},
                                                                  {2, 2, true},
                                                                  {3, 1, false},
                                                                  {3, 2, true},
                                                                  {4, 2, false}}));
  const bool before = GENERATE(false, true);
  CAPTURE(gpus, lately, before);
  const Outage known{.on = before, .since = k_now - 1h};
  CHECK(judge(known, {.gpus = gpus, .missing = lately, .lately = lately}, k_now).on == on);

  CHECK(count({pod(3, 9min), pod(2, 1s)}).lately == 2);
  CHECK(count({pod(3, 10min), pod(2, 1s)}).lately == 1);
  Gpu external = pod(3, 1min);
  external.source = Source::external;
  CHECK(count_answers(std::vector{external}, Origin::external, {}, k_grace, k_now) ==
        OriginAnswers{.gpus = 1, .missing = 1, .lately = 0});
}

TEST_CASE(
    "what serves is counted, and misses from its second miss on, in an outage from its first") {
  const Outage outage{.on = true, .since = k_now - 1min};
  CHECK(count({pod(0), pod(1), pod(2), pod(3)}) ==
        OriginAnswers{.gpus = 4, .missing = 2, .lately = 2});
  CHECK(count({pod(0), pod(1), pod(2), pod(3)}, outage) ==
        OriginAnswers{.gpus = 4, .missing = 3, .lately = 3});
  Gpu starting = pod(3), external = pod(3), unborn = pod(3);
  starting.state = State::starting;
  external.source = Source::external;
  unborn.url.clear();
  CHECK(count({starting, external, unborn}) == OriginAnswers{});
}

TEST_CASE(
    "what failed for its silence within the grace time counts, and nothing else that failed") {
  const OriginAnswers none{}, one{.gpus = 1, .missing = 1, .lately = 1};
  CHECK(count({failed(3, 10s)}) == one);
  CHECK(count({failed(3, 16s)}) == none);
  CHECK(count({failed(0, 10s)}) == none);
  const Outage outage{.on = true, .since = k_now - 1h};
  CHECK(count({failed(3, 59min)}, outage) == one);
  CHECK(count({failed(3, 1h + 10s)}, outage) == one);
  CHECK(count({failed(3, 2h)}, outage) == none);
}

TEST_CASE(
    "a GPU is lost after three misses and the grace time, which begins again with an outage's "
    "end") {
  const auto lost = [](const Gpu& gpu, const Outage& outage = {}) {
    return is_lost(gpu, outage, k_grace, k_now);
  };
  CHECK(lost(pod(3, 15s)));
  CHECK_FALSE(lost(pod(2, 15s)));
  CHECK_FALSE(lost(pod(3, 14s)));
  CHECK_FALSE(lost(pod(300, 1h), {.on = true, .since = k_now - 1h}));
  CHECK_FALSE(lost(pod(300, 1h), {.on = false, .since = k_now - 14s}));
  CHECK(lost(pod(300, 1h), {.on = false, .since = k_now - 15s}));
}
