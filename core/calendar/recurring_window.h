// A span of time that recurs: from each of its starts to the next of its ends. A value; const members
// are thread-safe.
#pragma once

#include <optional>
#include <string>

#include "core/calendar/cron_times.h"

namespace navtalk {

class RecurringWindow {
 public:
  using Instant = TimeZone::Instant;

  // `start`, `end`: see CronTimes. Error names what is wrong: "start: ...", "end: ...", "time_zone: ...".
  static RecurringWindow parse(const std::string& time_zone, const std::string& start,
                               const std::string& end);

  // Its end, if it is under way: its last start is later than its last end. The start is part of the
  // window, the end is not.
  std::optional<Instant> ends(Instant now) const;
  // The first start after `now`.
  std::optional<Instant> next_start(Instant now) const;

 private:
  RecurringWindow(TimeZone zone, CronTimes start, CronTimes end)
      : zone_(std::move(zone)), start_(start), end_(end) {}

  TimeZone zone_;
  CronTimes start_, end_;
};

}  // namespace navtalk
