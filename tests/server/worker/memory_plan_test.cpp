#include "server/worker/job/memory_plan.h"

#include <catch2/catch.hpp>
#include <vector>

namespace navtalk::server {
namespace {

constexpr std::uint64_t k_mib = 1 << 20;
using Residents = std::vector<std::uint64_t>;

MemoryRoom room(std::uint64_t used) { return {.total = 1000 * k_mib, .used = used * k_mib}; }

TEST_CASE("a renderer starts only where its peak fits below 95 % of the machine") {
  const MemoryPlan plan(200 * k_mib);
  CHECK(plan.fits(room(750), 0, {}));
  CHECK_FALSE(plan.fits(room(751), 0, {}));
}

TEST_CASE("what running renderers do not use yet of their peak is taken") {
  const MemoryPlan plan(200 * k_mib);
  CHECK(plan.fits(room(600), 0, Residents{50 * k_mib}));
  CHECK_FALSE(plan.fits(room(601), 0, Residents{50 * k_mib}));
  CHECK(plan.fits(room(750), 0, Residents{300 * k_mib}));  // beyond its peak: it counts as used
}

TEST_CASE("one that waits with its model in memory needs the rest of its peak alone") {
  const MemoryPlan plan(200 * k_mib);
  CHECK(plan.fits(room(900), 150 * k_mib, {}));
  CHECK_FALSE(plan.fits(room(901), 150 * k_mib, {}));
}

TEST_CASE("the peak is the largest of the last jobs that ended well") {
  MemoryPlan plan(200 * k_mib);
  CHECK(plan.peak() == 200 * k_mib);
  plan.learn(300 * k_mib);
  plan.learn(100 * k_mib);
  CHECK(plan.peak() == 300 * k_mib);
  for (int i = 0; i < 20; ++i) plan.learn(120 * k_mib);
  CHECK(plan.peak() == 120 * k_mib);
}

TEST_CASE("a renderer above its peak is ended on a full machine, with the reason") {
  const MemoryPlan free(200 * k_mib);
  CHECK_FALSE(free.excess(std::nullopt, 900 * k_mib));
  CHECK_FALSE(free.excess(room(950), 900 * k_mib));
  CHECK(free.excess(room(951), 201 * k_mib)->starts_with("memory: "));
  CHECK_FALSE(free.excess(room(951), 200 * k_mib));  // others are at fault
}

}  // namespace
}  // namespace navtalk::server
