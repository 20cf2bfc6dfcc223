#include "scheduler/pool/update_row.h"

#include <catch2/catch.hpp>

#include "core/base/error.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

const Cause k_race{"test", "race"};

// What another process does to the row.
void interfere(SmallPool& pool, const Gpu& gpu) {
  const Gpu row = pool.row(gpu);
  REQUIRE(pool.store->change({.id = row.id, .version = row.version, .host = "other"}, k_race));
}

}  // namespace

TEST_CASE("a change that lost a race is decided again on the row as it is then") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::idle, "pod-1");
  std::vector<std::string> hosts;
  const auto after = update_row(*pool.store, gpu.id, k_race, [&](const Gpu& row) {
    if (hosts.empty()) interfere(pool, gpu);
    hosts.push_back(row.host);
    return std::optional(GpuChange{.draining = true});
  });
  REQUIRE(after);
  CHECK(after->draining);
  CHECK(after->host == "other");
  CHECK(hosts == std::vector<std::string>{"", "other"});
}

TEST_CASE("a row that is left alone or is gone is not changed") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::idle, "pod-1");
  CHECK(!update_row(*pool.store, gpu.id, k_race,
                    [](const Gpu&) { return std::optional<GpuChange>(); }));
  CHECK(!update_row(*pool.store, {"gone"}, k_race,
                    [](const Gpu&) { return std::optional(GpuChange{.draining = true}); }));
  CHECK(!remove_row(*pool.store, gpu.id, k_race, [](const Gpu&) { return false; }));
  CHECK(!remove_row(*pool.store, {"gone"}, k_race, [](const Gpu&) { return true; }));
  CHECK(pool.row(gpu) == gpu);
}

TEST_CASE("a row that others change all the time is an error, not an endless loop") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::failed, "pod-1");
  const auto always = [&](const Gpu&) {
    interfere(pool, gpu);
    return true;
  };
  CHECK_THROWS_AS(update_row(*pool.store, gpu.id, k_race,
                             [&](const Gpu& row) {
                               always(row);
                               return std::optional(GpuChange{.draining = true});
                             }),
                  Error);
  CHECK_THROWS_AS(remove_row(*pool.store, gpu.id, k_race, always), Error);
  CHECK(!pool.row(gpu).draining);
}
