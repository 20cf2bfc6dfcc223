#include "core/text/rfc3339.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono;

TEST_CASE("a time that was written is read again, to the second") {
  const system_clock::time_point time = sys_days(2026y / June / 1) + 12h + 34min + 56s;
  CHECK(rfc3339(time + 250ms) == "2026-06-01T12:34:56.250Z");
  CHECK(parse_rfc3339("2026-06-01T12:34:56Z") == time);
  CHECK(parse_rfc3339(rfc3339(time + 250ms)) == time);
}

TEST_CASE("a text that is not a time in UTC is refused") {
  const auto* text =
      GENERATE("", "2026-06-01", "2026-06-01T12:34:56", "2026-06-01T12:34:56+02:00",
               "2026-06-01T12:34:56.5", "2026-06-01T12:34:56Z ", "2026-13-01T00:00:00Z");
  CHECK_FALSE(parse_rfc3339(text));
}
