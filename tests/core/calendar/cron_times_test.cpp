#include "core/calendar/cron_times.h"

#include <catch2/catch.hpp>

#include "core/calendar/recurring_window.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using navtalk::test::expect_error;
using namespace std::chrono;
using namespace std::chrono_literals;

namespace {

using Moment = TimeZone::Instant;

const TimeZone& berlin() {
  static const TimeZone zone = TimeZone::load("Europe/Berlin");
  return zone;
}

std::vector<Moment> times_between(const std::string& cron, Moment from, Moment to) {
  const CronTimes times = CronTimes::parse(cron);
  std::vector<Moment> found;
  for (auto at = times.next(from, berlin()); at && *at < to; at = times.next(*at, berlin())) {
    found.push_back(*at);
  }
  return found;
}

}  // namespace

TEST_CASE("cron's fields select the times that they name") {
  struct Row {
    const char* cron;
    Moment after, next;
  };
  const Moment monday = sys_days(2026y / 11 / 23) + 12h;
  const auto row = GENERATE_COPY(values<Row>({
      {"0 8 * * *", monday, sys_days(2026y / 11 / 24) + 8h},
      {"0 8 * * 1-5", sys_days(2026y / 11 / 27) + 8h, sys_days(2026y / 11 / 30) + 8h},
      {"0 8 * * mon-FRI", sys_days(2026y / 11 / 27) + 8h, sys_days(2026y / 11 / 30) + 8h},
      {"*/15 * * * *", monday, monday + 15min},
      {"5,10-20/5 12 * * *", monday + 10min, monday + 15min},
      {"0 0 1 jan *", monday, sys_days(2027y / 1 / 1)},
      {"0 0 29 2 *", monday, sys_days(2028y / 2 / 29)},
      {"0 0 * * 7", monday, sys_days(2026y / 11 / 29)},
      {"0 0 * * 0", monday, sys_days(2026y / 11 / 29)},
      {"0 0 13 * fri", monday, sys_days(2026y / 11 / 27)},   // the 13th, or any Friday
      {"0 0 */2 * fri", monday, sys_days(2026y / 11 / 27)},  // an odd day that is a Friday
      {"30 23 31 12 *", monday, sys_days(2026y / 12 / 31) + 23h + 30min},
  }));
  CAPTURE(row.cron);
  const TimeZone utc = TimeZone::load("UTC");
  const CronTimes times = CronTimes::parse(row.cron);
  CHECK(times.next(row.after, utc) == row.next);
  CHECK(times.last(row.next, utc) == row.next);
  CHECK(times.last(row.next - 1s, utc) <= row.after);
}

TEST_CASE("what is not a cron time is refused, with the field") {
  struct Row {
    const char *cron, *said;
  };
  const auto row = GENERATE(values<Row>({
      {"0 8 * *", "'0 8 * *': five fields"},
      {"", "five fields"},
      {"60 8 * * *", "the minute '60'"},
      {"0 24 * * *", "the hour '24'"},
      {"0 8 0 * *", "the day '0'"},
      {"0 8 * 13 *", "the month '13'"},
      {"0 8 * * 8", "the weekday '8'"},
      {"0 8 * * fry", "the weekday 'fry'"},
      {"0 18-8 * * *", "the hour '18-8'"},
      {"*/0 8 * * *", "the minute '*/0'"},
      {"5/10 8 * * *", "the minute '5/10'"},
      {"1, 8 * * *", "the minute ''"},
      {"0 -8 * * *", "the hour ''"},
      {"0 0 30 2 *", "no day matches"},
  }));
  CAPTURE(row.cron);
  expect_error(Code::invalid, {row.said}, [&] { CronTimes::parse(row.cron); });
}

TEST_CASE("a time that the change of clocks leaves out is reached at the change") {
  const Moment night = sys_days(2026y / 3 / 28) + 12h;
  const Moment change = sys_days(2026y / 3 / 29) + 1h;  // 02:00 becomes 03:00
  CHECK(times_between("30 2 * * *", night, night + 48h) ==
        std::vector<Moment>{change, sys_days(2026y / 3 / 30) + 30min});
  CHECK(CronTimes::parse("30 2 * * *").last(change, berlin()) == change);
  CHECK(CronTimes::parse("30 2 * * *").last(change - 1s, berlin()) ==
        Moment(sys_days(2026y / 3 / 28) + 90min));
  // Every hour: 01:30, 03:30; nothing in between, because no clock shows it.
  CHECK(times_between("30 * * * *", change - 1h, change + 1h) ==
        std::vector<Moment>{change - 30min, change + 30min});
}

TEST_CASE("a time that clocks show twice counts once, unless every hour counts") {
  const Moment evening = sys_days(2026y / 10 / 24) + 20h;
  const Moment first = sys_days(2026y / 10 / 25) + 30min;  // 02:30, in summer time
  CHECK(times_between("30 2 * * *", evening, evening + 24h) == std::vector<Moment>{first});
  CHECK(CronTimes::parse("30 2 * * *").last(first + 1h, berlin()) == first);
  CHECK(times_between("30 * * * *", first - 1min, first + 61min) ==
        std::vector<Moment>{first, first + 1h});
}

TEST_CASE("a window lasts from its start to just before its end") {
  const auto office = RecurringWindow::parse("Europe/Berlin", "0 8 * * 1-5", "0 18 * * 1-5");
  const Moment start = sys_days(2026y / 11 / 23) + 7h, end = start + 10h;
  CHECK_FALSE(office.ends(start - 1s));
  CHECK(office.ends(start) == end);
  CHECK(office.ends(end - 1s) == end);
  CHECK_FALSE(office.ends(end));
  CHECK(office.next_start(start - 1s) == start);
  CHECK(office.next_start(sys_days(2026y / 11 / 27) + 12h) ==
        Moment(sys_days(2026y / 11 / 30) + 7h));
}

TEST_CASE("a window over a change of clocks keeps to the clocks") {
  const auto nights = RecurringWindow::parse("Europe/Berlin", "0 22 * * *", "0 6 * * *");
  const Moment spring = sys_days(2026y / 3 / 28) + 21h;   // 22:00 in winter
  CHECK(nights.ends(spring) == spring + 7h);              // 06:00 in summer
  const Moment autumn = sys_days(2026y / 10 / 24) + 20h;  // 22:00 in summer
  CHECK(nights.ends(autumn) == autumn + 9h);
  // Between 02:30 and 02:45 of the night in which those times do not exist nothing lasts.
  const auto missing = RecurringWindow::parse("Europe/Berlin", "30 2 * * *", "45 2 * * *");
  CHECK_FALSE(missing.ends(sys_days(2026y / 3 / 29) + 1h + 1s));
  // It is not under way a second time in the repeated hour.
  const Moment first = sys_days(2026y / 10 / 25) + 30min;
  CHECK(missing.ends(first + 5min) == first + 15min);
  CHECK_FALSE(missing.ends(first + 65min));
}

TEST_CASE("a window's fault names its key") {
  const auto parse = [](const char* zone, const char* start, const char* end) {
    return [=] { RecurringWindow::parse(zone, start, end); };
  };
  expect_error(Code::not_found, {"time_zone: "}, parse("Mars/Base", "0 8 * * *", "0 9 * * *"));
  expect_error(Code::invalid, {"start: '8'"}, parse("UTC", "8", "0 9 * * *"));
  expect_error(Code::invalid, {"end: '9'"}, parse("UTC", "0 8 * * *", "9"));
  expect_error(Code::invalid, {"the same"}, parse("UTC", "0 8 * * *", "0 8 * * *"));
}
