#include "core/net/retry_after.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

std::optional<std::chrono::seconds> asked(const std::string& value) {
  // 1994-11-06 08:49:37 UTC
  return retry_after({.status = 503, .headers = {{"retry-after", value}}},
                     std::chrono::system_clock::from_time_t(784'111'777));
}

}  // namespace

TEST_CASE("how long a server asks to wait is read as seconds and as a date") {
  CHECK(asked("0") == 0s);
  CHECK(asked(" 120 ") == 120s);
  CHECK(asked("Sun, 06 Nov 1994 08:49:57 GMT") == 20s);
  CHECK(asked("Sunday, 06-Nov-94 08:50:37 GMT") == 60s);
  CHECK(asked("Sun Nov  6 09:49:37 1994") == 3600s);
  CHECK(asked("Sun, 06 Nov 1994 08:49:37 GMT") == 0s);
  CHECK(asked("Sun, 06 Nov 1994 07:49:37 GMT") == 0s);
  for (const char* unreadable : {"", "-1", "soon", "1.5", "1994-11-06", "99999-"})
    CHECK(asked(unreadable) == std::nullopt);
  CHECK(retry_after({.status = 503}) == std::nullopt);
}

TEST_CASE("a wait of more than a day, however far its end is, counts as a day") {
  CHECK(asked("86399") == 86399s);
  CHECK(asked("86400") == 24h);
  for (const char* longer : {"86401", "2147483648", "9223372036854775808", "99999999999999999999",
                             "Mon, 07 Nov 1994 08:49:38 GMT", "Sat, 01 Jan 2300 00:00:00 GMT",
                             "Fri, 31 Dec 9999 23:59:59 GMT"})
    CHECK(asked(longer) == 24h);
  CHECK(retry_after({.headers = {{"date", "Fri, 31 Dec 9999 23:59:39 GMT"},
                                 {"retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"}}}) == 20s);
}

TEST_CASE("a part of a second that is left until the date is waited for") {
  const auto now = std::chrono::system_clock::from_time_t(784'111'777) - 1ms;
  CHECK(retry_after({.headers = {{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}}, now) == 1s);
}

TEST_CASE("a date until which a server asks to wait is compared with its own clock") {
  const auto ahead = std::chrono::system_clock::from_time_t(784'111'777) + 1h;
  const HttpAnswer answer{.headers = {{"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                      {"retry-after", "Sun, 06 Nov 1994 08:49:57 GMT"}}};
  CHECK(retry_after(answer, ahead) == 20s);
}
