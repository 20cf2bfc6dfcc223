#include "core/log/error_throttle.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace navtalk;
using namespace std::chrono_literals;
using Kind = ErrorThrottle::Notice::Kind;

namespace {

const ErrorThrottle::Time k_start{1h};

}  // namespace

TEST_CASE("an error that comes again and again is told once, then every minute, then its end") {
  ErrorThrottle throttle(5s);
  std::vector<ErrorThrottle::Notice> told;
  const auto note = [&](const std::optional<ErrorThrottle::Notice>& notice) {
    if (notice) told.push_back(*notice);
  };
  // Eleven minutes, four times a second in one part and once in another.
  int failures = 0;
  for (auto at = 0ms; at < 11min; at += 250ms) {
    note(throttle.failed("prober", "away", k_start + at));
    ++failures;
    if (at % 1s != 0ms) continue;
    note(throttle.failed("housekeeping", "away", k_start + at));
    ++failures;
  }
  CHECK(told.size() == 11);
  CHECK(told.front().kind == Kind::fails);
  CHECK(told.front().parts == "prober");
  CHECK(told.back().kind == Kind::still_fails);
  CHECK(told.back().parts == "housekeeping, prober");
  CHECK(told.back().lasted == 10min);
  told.clear();
  note(throttle.well("prober", k_start + 11min));
  note(throttle.well("prober", k_start + 12min));
  CHECK(told.empty());  // the other one has not turned yet
  note(throttle.well("housekeeping", k_start + 12min));
  note(throttle.well("prober", k_start + 12min));
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == Kind::works_again);
  CHECK(told[0].times == static_cast<std::uint64_t>(failures));
  CHECK(told[0].lasted == 12min);
  CHECK(throttle.failed("prober", "away", k_start + 13min)->kind == Kind::fails);
}

TEST_CASE("another error during a failure is reported at once, and no text twice in a minute") {
  ErrorThrottle throttle(5s);
  CHECK(throttle.failed("a", "refused", k_start));
  CHECK_FALSE(throttle.failed("b", "refused", k_start + 1s));
  const auto other = throttle.failed("b", "starting up", k_start + 2s);
  REQUIRE(other);
  CHECK(other->kind == Kind::still_fails);
  CHECK(other->error == "starting up");
  CHECK_FALSE(throttle.failed("b", "refused", k_start + 3s));
}

TEST_CASE("texts that are never the same twice do not flood either") {
  ErrorThrottle throttle(5s);
  int told = 0;
  for (int i = 0; i < 500; ++i) {
    if (throttle.failed("a", "try " + std::to_string(i), k_start + i * 100ms)) ++told;
  }
  CHECK(told == 8);
}

TEST_CASE("an error that comes and goes is one error until it stays away") {
  ErrorThrottle throttle(5s);
  int told = 0;
  for (auto at = 0s; at < 50s; at += 1s) {
    if (throttle.failed("a", "away", k_start + at)) ++told;
    if (throttle.well("a", k_start + at + 500ms)) ++told;
  }
  CHECK(told == 1);
  const auto over = throttle.well("a", k_start + 60s);
  REQUIRE(over);
  CHECK(over->kind == Kind::works_again);
  CHECK(over->times == 50);
}

TEST_CASE("what never failed tells nothing") {
  ErrorThrottle throttle(5s);
  CHECK_FALSE(throttle.well("a", k_start));
}
