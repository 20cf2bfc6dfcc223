#include "core/calendar/recurring_window.h"

#include "core/base/error.h"

namespace navtalk {
namespace {

template <class Parse>
auto named(const char* key, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw error.within(key);
  }
}

}  // namespace

RecurringWindow RecurringWindow::parse(const std::string& time_zone, const std::string& start,
                                       const std::string& end) {
  if (start == end) throw Error(Code::invalid, "start and end are the same");
  return {named("time_zone", [&] { return TimeZone::load(time_zone); }),
          named("start", [&] { return CronTimes::parse(start); }),
          named("end", [&] { return CronTimes::parse(end); })};
}

std::optional<RecurringWindow::Instant> RecurringWindow::ends(Instant now) const {
  const auto started = start_.last(now, zone_);
  if (!started) return std::nullopt;
  const auto ended = end_.last(now, zone_);
  if (ended && *ended >= *started) return std::nullopt;
  return end_.next(now, zone_);
}

std::optional<RecurringWindow::Instant> RecurringWindow::next_start(Instant now) const {
  return start_.next(now, zone_);
}

}  // namespace navtalk
