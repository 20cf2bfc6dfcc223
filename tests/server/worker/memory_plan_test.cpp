#include "server/worker/job/memory_plan.h"

#include <catch2/catch.hpp>

namespace navtalk::server {
namespace {

constexpr std::uint64_t k_mib = 1 << 20;

MemoryRoom room(std::uint64_t used) { return {.total = 1000 * k_mib, .used = used * k_mib}; }

TEST_CASE("a renderer starts only where its peak fits below 95 % of the machine") {
  const MemoryPlan plan(200 * k_mib);
  CHECK(MemoryPlan::fits(room(750), plan.missing(0)));
  CHECK_FALSE(MemoryPlan::fits(room(751), plan.missing(0)));
}

TEST_CASE("what renderers do not use yet of their peak is taken, of each kind its own") {
  const MemoryPlan own(200 * k_mib), sharing(50 * k_mib);
  CHECK(own.missing(50 * k_mib) == 150 * k_mib);
  CHECK(own.missing(300 * k_mib) == 0);  // beyond its peak: it counts as used
  CHECK(MemoryPlan::fits(room(750), own.missing(50 * k_mib) + sharing.missing(0)));
  CHECK_FALSE(MemoryPlan::fits(room(751), own.missing(50 * k_mib) + sharing.missing(0)));
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
