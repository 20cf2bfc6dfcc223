#include "core/calendar/cron_times.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using std::chrono::days;
using std::chrono::year_month_day;

constexpr int k_days_looked_at = 3660;

constexpr std::array<std::string_view, 12> k_months = {"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> k_weekdays = {"sun", "mon", "tue", "wed",
                                                        "thu", "fri", "sat"};

struct CronField {
  std::string_view name;
  int least, most;
  std::span<const std::string_view> names;  // of `least` and those above it
};

std::string lower(std::string_view text) {
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

[[noreturn]] void refuse(const CronField& field, std::string_view text) {
  throw Error(Code::invalid, "the " + std::string(field.name) + " '" + printable(text) +
                                 "' is not *, a number from " + std::to_string(field.least) +
                                 " to " + std::to_string(field.most) +
                                 ", a range of them or a list");
}

int parse_part(const CronField& field, std::string_view text) {
  const auto named = std::find(field.names.begin(), field.names.end(), lower(text));
  if (named != field.names.end()) {
    return field.least + static_cast<int>(named - field.names.begin());
  }
  const auto number = parse_number<int>(text);
  if (!number || *number < field.least || *number > field.most) refuse(field, text);
  return *number;
}

// "8", "8-18", "8-18/2", "*", "*/15"
void add_item(const CronField& field, std::string_view item, std::vector<int>& values) {
  const std::size_t slash = std::min(item.find('/'), item.size());
  const std::string_view range = item.substr(0, slash);
  const bool has_step = slash < item.size();
  const std::size_t dash = range.find('-');
  int from = field.least, to = field.most, step = 1;
  if (range != "*") {
    from = parse_part(field, range.substr(0, dash));
    to = dash == std::string_view::npos ? from : parse_part(field, range.substr(dash + 1));
    if (from > to || (has_step && dash == std::string_view::npos)) refuse(field, item);
  }
  if (has_step) {
    const auto given = parse_number<int>(item.substr(slash + 1));
    if (!given || *given < 1 || *given > field.most) refuse(field, item);
    step = *given;
  }
  for (int value = from; value <= to; value += step) values.push_back(value);
}

std::vector<int> parse_field(const CronField& field, std::string_view text) {
  std::vector<int> values;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    add_item(field, text.substr(0, comma), values);
    if (comma == text.size()) return values;
    text.remove_prefix(comma + 1);
  }
}

template <std::size_t size>
void set_all(std::bitset<size>& bits, const std::vector<int>& values) {
  for (const int value : values) bits.set(static_cast<std::size_t>(value) % size);
}

}  // namespace

CronTimes CronTimes::parse(const std::string& text) try {
  std::vector<std::string> fields;
  std::istringstream in(text);
  for (std::string field; in >> field;) fields.push_back(field);
  if (fields.size() != 5) {
    throw Error(Code::invalid, "five fields are needed: minute, hour, day, month, weekday");
  }
  CronTimes times;
  set_all(times.minutes_, parse_field({"minute", 0, 59, {}}, fields[0]));
  set_all(times.hours_, parse_field({"hour", 0, 23, {}}, fields[1]));
  set_all(times.days_, parse_field({"day", 1, 31, {}}, fields[2]));
  set_all(times.months_, parse_field({"month", 1, 12, k_months}, fields[3]));
  set_all(times.weekdays_, parse_field({"weekday", 0, 7, k_weekdays}, fields[4]));
  times.any_day_ = fields[2].starts_with('*');
  times.any_weekday_ = fields[4].starts_with('*');
  // Eight years hold a leap day, also around a year 1900.
  if (!times.next(Instant{}, TimeZone{})) throw Error(Code::invalid, "no day matches");
  return times;
} catch (const Error& error) {
  throw error.within("'" + printable(text) + "'");
}

bool CronTimes::matches(year_month_day date) const {
  if (!months_[static_cast<unsigned>(date.month())]) return false;
  const bool day = days_[static_cast<unsigned>(date.day())];
  const bool weekday = weekdays_[std::chrono::weekday(date).c_encoding()];
  return any_day_ || any_weekday_ ? day && weekday : day || weekday;
}

std::optional<CronTimes::Instant> CronTimes::last(Instant time, const TimeZone& zone) const {
  return nearest(time, zone, true);
}

std::optional<CronTimes::Instant> CronTimes::next(Instant time, const TimeZone& zone) const {
  return nearest(time, zone, false);
}

// Day by day from the one beside the zone's date: a change of clocks may move a time over midnight.
std::optional<CronTimes::Instant> CronTimes::nearest(Instant time, const TimeZone& zone,
                                                     bool back) const {
  const int step = back ? -1 : 1;
  auto day = std::chrono::floor<days>(zone.local(time)) - days(step);
  std::optional<Instant> best;
  const auto consider = [&](Instant at) {
    if (back ? at > time : at <= time) return;
    if (!best || (back ? at > *best : at < *best)) best = at;
  };
  int left = 2;  // days that are looked at once a time is found
  for (int i = 0; i < k_days_looked_at && left > 0; ++i, day += days(step)) {
    if (best) --left;
    if (!matches(year_month_day(day))) continue;
    for (std::size_t hour = 0; hour < hours_.size(); ++hour) {
      if (!hours_[hour]) continue;
      for (std::size_t minute = 0; minute < minutes_.size(); ++minute) {
        if (!minutes_[minute]) continue;
        const auto moments =
            zone.moments(day + std::chrono::hours(hour) + std::chrono::minutes(minute));
        if (moments.exists || !hours_.all()) consider(moments.first);
        if (moments.exists && hours_.all()) consider(moments.second);
      }
    }
  }
  return best;
}

}  // namespace navtalk
