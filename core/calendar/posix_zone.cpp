#include "core/calendar/posix_zone.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year;

class PosixReader {
 public:
  explicit PosixReader(std::string_view text) : whole_(text), text_(text) {}

  TimeZone::Rule read() {
    TimeZone::Rule rule;
    skip_name();
    rule.offset = -clock();
    if (text_.empty()) return rule;
    rule.has_summer = true;
    skip_name();
    rule.summer_offset = rule.offset + hours(1);
    if (!text_.empty() && text_.front() != ',') rule.summer_offset = -clock();
    rule.begins = day();
    rule.ends = day();
    if (!text_.empty()) refuse();
    return rule;
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Code::invalid, "'" + printable(whole_) + "' is not a rule of a time zone");
  }
  bool skip(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_name() {
    if (skip('<')) {
      const std::size_t end = text_.find('>');
      if (end == std::string_view::npos) refuse();
      return text_.remove_prefix(end + 1);
    }
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto end = std::find_if_not(text_.begin(), text_.end(), letter);
    if (end == text_.begin()) refuse();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.begin()));
  }
  int number(int least, int most) {
    if (text_.starts_with('-')) refuse();
    const auto value = take_number<int>(text_);
    if (!value || *value < least || *value > most) refuse();
    return *value;
  }
  // [+-]hh[:mm[:ss]]
  seconds clock() {
    const bool negative = skip('-');
    if (!negative) skip('+');
    seconds time = hours(number(0, 167));
    if (skip(':')) time += minutes(number(0, 59));
    if (skip(':')) time += seconds(number(0, 59));
    return negative ? -time : time;
  }
  // ,Mm.w.d[/time], ,Jn[/time] or ,n[/time]
  TimeZone::Day day() {
    TimeZone::Day day;
    if (!skip(',')) refuse();
    if (skip('M')) {
      day.month = number(1, 12);
      if (!skip('.')) refuse();
      day.week = number(1, 5);
      if (!skip('.')) refuse();
      day.weekday = number(0, 6);
    } else if (skip('J')) {
      day.kind = TimeZone::Day::Kind::julian;
      day.number = number(1, 365);
    } else {
      day.kind = TimeZone::Day::Kind::zero_based;
      day.number = number(0, 365);
    }
    if (skip('/')) day.time = clock();
    return day;
  }

  std::string_view whole_, text_;
};

sys_days date_of(const TimeZone::Day& day, year of) {
  using Kind = TimeZone::Day::Kind;
  const sys_days new_year = of / std::chrono::January / 1;
  if (day.kind == Kind::zero_based) return new_year + days(day.number);
  if (day.kind == Kind::julian) {
    return new_year + days(day.number - 1 + (of.is_leap() && day.number > 59 ? 1 : 0));
  }
  const std::chrono::weekday weekday(static_cast<unsigned>(day.weekday));
  const auto month = of / std::chrono::month(static_cast<unsigned>(day.month));
  if (day.week == 5) return month / weekday[std::chrono::last];
  return month / weekday[static_cast<unsigned>(day.week)];
}

}  // namespace

TimeZone::Rule parse_posix_zone(std::string_view text) { return PosixReader(text).read(); }

seconds offset_by(const TimeZone::Rule& rule, TimeZone::Instant time) {
  if (!rule.has_summer) return rule.offset;
  const std::chrono::year_month_day date(std::chrono::floor<days>(time + rule.offset));
  const auto begins = date_of(rule.begins, date.year()) + rule.begins.time - rule.offset;
  const auto ends = date_of(rule.ends, date.year()) + rule.ends.time - rule.summer_offset;
  const bool summer = begins < ends ? begins <= time && time < ends  // north of the equator
                                    : time < ends || begins <= time;
  return summer ? rule.summer_offset : rule.offset;
}

}  // namespace navtalk
