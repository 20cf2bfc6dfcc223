#include "scheduler/provision/local/crash_history.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using local::CrashHistory;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr TimePoint k_start{seconds(1000)};

// The rest after `crashes` of 0.1 s each, one right after the other.
std::optional<CrashHistory::Rest> rest_after(int crashes) {
  CrashHistory history;
  for (int i = 0; i < crashes; ++i)
    history.crashed("cpu", k_start - milliseconds(100), k_start, "exit status 3");
  return history.rest("cpu", k_start);
}

}  // namespace

TEST_CASE("the rest after crashes doubles from 1 s to 60 s") {
  CHECK_FALSE(rest_after(0));
  const auto [crashes, expected] =
      GENERATE(table<int, int>({{1, 1}, {2, 2}, {3, 4}, {6, 32}, {7, 60}, {50, 60}}));
  const auto rest = rest_after(crashes);
  REQUIRE(rest);
  CHECK(rest->left == seconds(expected));
  CHECK(rest->crashes == crashes);
  CHECK(rest->last == "exit status 3");
}

TEST_CASE("a device may be used again when its rest is over, others at any time") {
  CrashHistory history;
  history.crashed("cuda:0", k_start, k_start, "signal 9");
  CHECK(history.rest("cuda:0", k_start + milliseconds(999)));
  CHECK_FALSE(history.rest("cuda:0", k_start + seconds(1)));
  CHECK_FALSE(history.rest("cuda:1", k_start));
}

TEST_CASE("a long sound run ends a crash loop") {
  CrashHistory history;
  for (int i = 0; i < 5; ++i) history.crashed("cpu", k_start, k_start, "signal 11");
  history.crashed("cpu", k_start, k_start + seconds(60), "signal 11");
  const auto rest = history.rest("cpu", k_start + seconds(60));
  REQUIRE(rest);
  CHECK(rest->crashes == 1);
}
