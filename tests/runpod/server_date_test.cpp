#include "runpod/api/server_date.h"

#include <catch2/catch.hpp>

using namespace navtalk::runpod;
using namespace std::chrono_literals;

TEST_CASE("an answer's date is read in its one form") {
  const auto day = std::chrono::sys_days(std::chrono::year(1994) / 11 / 6);
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == day + 8h + 49min + 37s);
  for (const char* const other : {"", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37",
                                  "Sun, 06 Nov 1994 08:49:37 +0100", "1994-11-06T08:49:37Z",
                                  "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    INFO(other);
    CHECK_FALSE(parse_http_date(other));
  }
}

TEST_CASE("an age is never less than the truth, although both times are cut to the second") {
  const WallTime made{1000s};
  for (const auto late : {0ms, 1ms, 999ms, 1000ms, 1500ms, 10'000ms}) {
    for (const auto fraction : {0ms, 1ms, 500ms, 999ms}) {
      const WallTime truly_made = made + fraction;
      const WallTime shown = std::chrono::floor<std::chrono::seconds>(truly_made);
      const WallTime date = std::chrono::floor<std::chrono::seconds>(truly_made + late);
      CHECK(age_at_most(shown, date) >= late);
      CHECK(age_at_most(shown, date) <= late + 2s);
    }
  }
  CHECK(age_at_most(made, made - 5s) == 1s);
}
