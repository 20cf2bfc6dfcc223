#include "core/calendar/time_zone.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "core/calendar/posix_zone.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using navtalk::test::expect_error;
using namespace std::chrono;
using namespace std::chrono_literals;

namespace {

using Instant = TimeZone::Instant;

// What a program that knows no future changes of the file would read: the header, one local time, the
// rule.
std::string only_rule(const std::string& rule, int offset) {
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>((value >> shift) & 0xffU);
    return bytes;
  };
  std::string header = "TZif2" + std::string(15, '\0');
  for (const std::uint32_t count : {0U, 0U, 0U, 0U, 1U, 4U}) header += number(count);
  const std::string record =
      number(static_cast<std::uint32_t>(offset)) + std::string("\0\0UTC\0", 6);
  return header + record + header + record + "\n" + rule + "\n";
}

std::string bytes_of(const std::string& zone) {
  std::ifstream in(std::string(k_zone_folder) + "/" + zone, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("offsets of zones are those of their laws") {
  struct Row {
    const char* zone;
    Instant at;
    minutes offset;
  };
  const auto row = GENERATE(values<Row>({
      {"UTC", sys_days(2026y / 7 / 1), 0min},
      {"Europe/Berlin", sys_days(2026y / 3 / 29) + 59min, 60min},
      {"Europe/Berlin", sys_days(2026y / 3 / 29) + 60min, 120min},
      {"Europe/Berlin", sys_days(2026y / 10 / 25) + 59min, 120min},
      {"Europe/Berlin", sys_days(2026y / 10 / 25) + 60min, 60min},
      {"America/New_York", sys_days(2026y / 11 / 1) + 6h, -300min},
      {"America/New_York", sys_days(2026y / 11 / 1) + 6h - 1s, -240min},
      {"Australia/Sydney", sys_days(2026y / 1 / 1), 660min},
      {"Australia/Sydney", sys_days(2026y / 7 / 1), 600min},
      {"Asia/Kolkata", sys_days(2026y / 7 / 1), 330min},
      {"Asia/Kathmandu", sys_days(2026y / 7 / 1), 345min},
      {"Europe/Berlin", sys_days(1970y / 7 / 1), 60min},        // no summer time that year
      {"Europe/Berlin", sys_days(2090y / 7 / 1), 120min},       // by the rule
      {"America/Sao_Paulo", sys_days(2026y / 1 / 1), -180min},  // given up in 2019
  }));
  CAPTURE(row.zone, row.at.time_since_epoch().count());
  CHECK(TimeZone::load(row.zone).offset_at(row.at) == row.offset);
}

TEST_CASE("a rule alone gives the same offsets as the list of changes") {
  struct Row {
    const char *zone, *rule;
  };
  const auto row = GENERATE(values<Row>({
      {"Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"},
      {"America/New_York", "EST5EDT,M3.2.0,M11.1.0"},
      {"Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3"},
      {"Asia/Kathmandu", "<+0545>-5:45"},
      {"Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"},
      {"America/Nuuk", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"},
  }));
  CAPTURE(row.zone);
  const TimeZone listed = TimeZone::load(row.zone);
  const TimeZone by_rule = TimeZone::parse(row.zone, only_rule(row.rule, 0));
  int differences = 0;
  for (Instant at = sys_days(2025y / 1 / 1); at < Instant(sys_days(2036y / 1 / 1)); at += 30min) {
    if (listed.offset_at(at) != by_rule.offset_at(at)) ++differences;
  }
  CHECK(differences == 0);
}

TEST_CASE("days of rules may be counted from New Year") {
  const auto julian = parse_posix_zone("AAA0BBB,J60/0,J61/0");  // 1 March, whether leap year or not
  CHECK(offset_by(julian, sys_days(2028y / 2 / 29) + 12h) == 0s);
  CHECK(offset_by(julian, sys_days(2028y / 3 / 1) + 12h) == 1h);
  CHECK(offset_by(julian, sys_days(2027y / 3 / 1) + 12h) == 1h);
  const auto counted = parse_posix_zone("AAA0BBB,59/0,60/0");
  CHECK(offset_by(counted, sys_days(2028y / 2 / 29) + 12h) == 1h);
  CHECK(offset_by(counted, sys_days(2027y / 3 / 1) + 12h) == 1h);
}

TEST_CASE("a local time comes once, twice or never") {
  const TimeZone berlin = TimeZone::load("Europe/Berlin");
  const auto once = berlin.moments(local_days(2026y / 6 / 1) + 8h);
  CHECK(once.exists);
  CHECK(once.first == Instant(sys_days(2026y / 6 / 1) + 6h));
  CHECK(once.second == once.first);

  const auto twice = berlin.moments(local_days(2026y / 10 / 25) + 2h + 30min);
  CHECK(twice.exists);
  CHECK(twice.first == Instant(sys_days(2026y / 10 / 25) + 30min));
  CHECK(twice.second == Instant(sys_days(2026y / 10 / 25) + 90min));

  const auto never = berlin.moments(local_days(2026y / 3 / 29) + 2h + 30min);
  CHECK_FALSE(never.exists);
  CHECK(never.first == Instant(sys_days(2026y / 3 / 29) + 1h));

  // Samoa went to the other side of the date line: it had no 30 December 2011.
  const auto skipped = TimeZone::load("Pacific/Apia").moments(local_days(2011y / 12 / 30) + 12h);
  CHECK_FALSE(skipped.exists);
  CHECK(skipped.first == Instant(sys_days(2011y / 12 / 30) + 10h));
}

TEST_CASE("what is not a time zone is refused by its name") {
  for (const char* name : {"", "/etc/passwd", "../zoneinfo/UTC", "Europe/", "a b"}) {
    CAPTURE(name);
    expect_error(Code::invalid, {"is not the name of a time zone"}, [&] { TimeZone::load(name); });
  }
  expect_error(Code::not_found, {"Europe/Berlinn"}, [] { TimeZone::load("Europe/Berlinn"); });
  expect_error(Code::not_found, {"Europe"}, [] { TimeZone::load("Europe"); });
  expect_error(Code::invalid, {"zone.tab"}, [] { TimeZone::load("zone.tab"); });
  expect_error(Code::not_found, {"tzdata-x"}, [] { TimeZone::load("tzdata-x"); });
}

TEST_CASE("a zone's file that is cut or damaged is refused, never read past its end") {
  const std::string whole = bytes_of("Europe/Berlin");
  REQUIRE(whole.size() > 500);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(TimeZone::parse("x", std::string_view(whole).substr(0, size)), Error);
  }
  std::string huge = whole;
  huge[32] = '\x7f';  // two thousand million changes
  CHECK_THROWS_AS(TimeZone::parse("x", huge), Error);
  for (const char* rule : {"CET", "-1", "CET-1CEST", "CET-1CEST,M13.1.0,M1.1.0",
                           "CET-1CEST,M3.5.0,M10.5.0/3x", "<CET-1", "CET-1CEST,M3.5.0,J0"}) {
    CAPTURE(rule);
    CHECK_THROWS_AS(TimeZone::parse("x", only_rule(rule, 0)), Error);
  }
}
