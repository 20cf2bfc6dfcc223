#include "runpod/api/server_date.h"

#include <catch2/catch.hpp>

using namespace navtalk::runpod;
using namespace std::chrono_literals;

TEST_CASE("an answer's date is read in the three forms of RFC 9110, and nothing else is a date") {
  const auto day = std::chrono::sys_days(std::chrono::year(1994) / 11 / 6);
  for (const char* const form : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                 "Sun Nov  6 08:49:37 1994"}) {
    INFO(form);
    CHECK(parse_http_date(form) == day + 8h + 49min + 37s);
  }
  for (const char* const other :
       {"", "yesterday", "Sun, 06 Nov", "Sun, 06 Nov 1994 25:49:37 GMT", "1994-11-06T08:49:37Z"}) {
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
