// What tenants should have of the slots, with what they have had.
#include "scheduler/jobs/shares/slot_parts.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace navtalk;
using namespace std::chrono_literals;

TEST_CASE("a flood gives way to a batch of a tenant that has had little, and to its like by half") {
  std::vector<SlotUse> uses = {{.waiting = 1000, .history = {.slots = 8}}, {.waiting = 40}};
  CHECK(slot_parts(uses, 16) == std::vector<double>{0, 16});
  uses[0].history.slots = 3;
  CHECK(slot_parts(uses, 16) == std::vector<double>{5, 11});
  uses[1].history.slots = 3;
  CHECK(slot_parts(uses, 16) == std::vector<double>{8, 8});
}

TEST_CASE("what nobody else wants a tenant has however much it has had") {
  const std::vector<SlotUse> uses = {{.waiting = 1000, .history = {.slots = 16}}, {.waiting = 3}};
  CHECK(slot_parts(uses, 16) == std::vector<double>{13, 3});
}

TEST_CASE("a flood that had all slots waits for two hours at most when nine others flood, too") {
  std::vector<SlotUse> uses(10, SlotUse{.waiting = 1000});
  uses[0].history.slots = 16;
  Duration waited{}, passed{};
  double flood_h = 0;
  for (; passed < 8h; passed += 10s) {
    const std::vector<double> parts = slot_parts(uses, 16);
    CHECK(std::accumulate(parts.begin(), parts.end(), 0.0) == Approx(16));
    if (parts[0] < 0.1) waited = passed;
    flood_h += parts[0] / 360;
    for (std::size_t i = 0; i < uses.size(); ++i) {  // observe() counts whole jobs
      const double keep = std::exp(-10.0 / in_seconds(SlotHistory::k_memory));
      uses[i].history.slots = keep * uses[i].history.slots + (1 - keep) * parts[i];
    }
  }
  CHECK(waited > 30min);
  CHECK(waited < 2h);
  CHECK(flood_h > 0.6 * 1.6 * 8);  // of an even part, after a whole lane
}
