// Times of a calendar in cron's notation: "MINUTE HOUR DAY MONTH WEEKDAY", such as "0 8 * * mon-fri". A
// field is *, a number, a range, or a list of these with commas; * or a range followed by /N means every
// Nth. Months and weekdays are numbers (Sunday is 0 and 7) or names of three letters. A day must match
// both DAY and WEEKDAY, or one of them where neither is *.
//
// When clocks change: a time that does not exist is reached at the change, and a time that exists twice
// counts the first time. If HOUR is *, the times are those that clocks really show: none in a missing
// hour, both in a repeated one.
// A value; const members are thread-safe.
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string>

#include "core/calendar/time_zone.h"

namespace navtalk {

class CronTimes {
 public:
  using Instant = TimeZone::Instant;

  // Error{invalid} names the text and the field; also for times that never come (30 February).
  static CronTimes parse(const std::string& text);

  // The last one at or before `time`, the first one after it; nullopt: none within ten years.
  std::optional<Instant> last(Instant time, const TimeZone& zone) const;
  std::optional<Instant> next(Instant time, const TimeZone& zone) const;

 private:
  bool matches(std::chrono::year_month_day date) const;
  std::optional<Instant> nearest(Instant time, const TimeZone& zone, bool back) const;

  std::bitset<60> minutes_{};
  std::bitset<24> hours_{};
  std::bitset<32> days_{};    // from 1
  std::bitset<13> months_{};  // from 1
  std::bitset<7> weekdays_{};
  bool any_day_ = false, any_weekday_ = false;  // the field begins with *
};

}  // namespace navtalk
