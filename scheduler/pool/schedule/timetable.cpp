#include "scheduler/pool/schedule/timetable.h"

#include <algorithm>

namespace navtalk {
namespace {

using Instant = TimeZone::Instant;

struct Occurrence {
  Instant start{}, end{};  // start: now, of one that is under way
};

// Of a window that is under way, or for which GPUs are drained already.
std::optional<Occurrence> occurrence(const MaintenanceWindow& maintenance, Instant now) {
  if (const auto end = maintenance.window.ends(now)) return Occurrence{now, *end};
  const auto start = maintenance.window.next_start(now);
  if (!start || *start - now > maintenance.ahead) return std::nullopt;
  const auto end = maintenance.window.ends(*start);
  return end ? std::optional(Occurrence{*start, *end}) : std::nullopt;
}

}  // namespace

bool MaintenanceWindow::covers(Source source, const std::string& host) const {
  if (!hosts.empty()) {
    return source == Source::local && std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  }
  return sources.empty() || std::find(sources.begin(), sources.end(), source) != sources.end();
}

Timetable::Timetable(ScalingLimits usual, std::vector<ScheduledLimits> schedule,
                     std::vector<MaintenanceWindow> maintenance, Wall wall)
    : usual_(std::move(usual)),
      schedule_(std::move(schedule)),
      maintenance_(std::move(maintenance)),
      wall_(std::move(wall)) {}

TimePoint Timetable::system_clock_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

Instant Timetable::now() const { return std::chrono::floor<std::chrono::seconds>(wall_()); }

const ScheduledLimits* Timetable::entry(Instant now) const {
  const auto found =
      std::find_if(schedule_.begin(), schedule_.end(),
                   [&](const ScheduledLimits& one) { return one.window.ends(now).has_value(); });
  return found == schedule_.end() ? nullptr : &*found;
}

ScalingLimits Timetable::limits() const {
  const ScheduledLimits* const held = entry(now());
  return held == nullptr ? usual_ : held->limits;
}

std::optional<ActiveEntry> Timetable::active() const {
  const Instant at = now();
  const ScheduledLimits* const held = entry(at);
  if (held == nullptr) return std::nullopt;
  return ActiveEntry{held->name, TimePoint(held->window.ends(at).value_or(at))};
}

std::vector<ActiveEntry> Timetable::maintenance() const {
  std::vector<ActiveEntry> found;
  for (const MaintenanceWindow& one : maintenance_) {
    if (const auto found_now = occurrence(one, now())) {
      found.push_back({one.name, TimePoint(found_now->end)});
    }
  }
  return found;
}

std::optional<TimePoint> Timetable::empty_by(Source source, const std::string& host) const {
  std::optional<TimePoint> first;
  for (const MaintenanceWindow& one : maintenance_) {
    if (!one.covers(source, host)) continue;
    const auto found = occurrence(one, now());
    if (found && (!first || TimePoint(found->start) < *first)) first = TimePoint(found->start);
  }
  return first;
}

}  // namespace navtalk
