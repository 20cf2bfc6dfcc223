#include "scheduler/provision/local/crash_history.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using local::CrashHistory;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr TimePoint k_start{seconds(1000)};

// The backoff after `crashes` of 0.1 s each, one right after the other.
std::optional<CrashHistory::Backoff> backoff_after(int crashes) {
  CrashHistory history;
  for (int i = 0; i < crashes; ++i)
    history.crashed("cpu", k_start - milliseconds(100), k_start, "exit status 3");
  return history.backoff("cpu", k_start);
}

}  // namespace

TEST_CASE("the backoff after crashes doubles from 1 s to 60 s") {
  CHECK_FALSE(backoff_after(0));
  const auto [crashes, expected] =
      GENERATE(table<int, int>({{1, 1}, {2, 2}, {3, 4}, {6, 32}, {7, 60}, {50, 60}}));
  const auto backoff = backoff_after(crashes);
  REQUIRE(backoff);
  CHECK(backoff->left == seconds(expected));
  CHECK(backoff->crashes == crashes);
  CHECK(backoff->last == "exit status 3");
}

TEST_CASE("a device may be used again when its backoff is over, others at any time") {
  CrashHistory history;
  history.crashed("cuda:0", k_start, k_start, "signal 9");
  CHECK(history.backoff("cuda:0", k_start + milliseconds(999)));
  CHECK_FALSE(history.backoff("cuda:0", k_start + seconds(1)));
  CHECK_FALSE(history.backoff("cuda:1", k_start));
}

TEST_CASE("a long stable run ends a crash loop") {
  CrashHistory history;
  for (int i = 0; i < 5; ++i) history.crashed("cpu", k_start, k_start, "signal 11");
  history.crashed("cpu", k_start, k_start + seconds(60), "signal 11");
  const auto backoff = history.backoff("cpu", k_start + seconds(60));
  REQUIRE(backoff);
  CHECK(backoff->crashes == 1);
}
