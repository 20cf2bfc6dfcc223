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

bool MaintenanceWindow::covers(Origin origin, const std::string& host) const {
  if (!hosts.empty()) {
    return origin == Origin::local && std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  }
  return origins.empty() || std::find(origins.begin(), origins.end(), origin) != origins.end();
}

Timetable::Timetable(ScalingLimits usual, std::vector<ScheduledLimits> schedule,
                     std::vector<MaintenanceWindow> maintenance, Wall wall,
                     std::vector<Origin> clouds)
    : entries_(std::make_shared<const Entries>(Entries{std::move(usual), std::move(schedule),
                                                       std::move(maintenance), std::move(clouds)})),
      wall_(std::move(wall)) {}

void Timetable::replace_by(const Timetable& other) {
  const std::shared_ptr<const Entries> theirs = other.entries();
  entries_.with([&](std::shared_ptr<const Entries>& mine) { mine = theirs; });
}

std::shared_ptr<const Timetable::Entries> Timetable::entries() const {
  return entries_.with([](const std::shared_ptr<const Entries>& entries) { return entries; });
}

TimePoint Timetable::system_clock_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

Instant Timetable::now() const { return std::chrono::floor<std::chrono::seconds>(wall_()); }

const ScheduledLimits* Timetable::entry(const Entries& entries, Instant now) {
  const auto found =
      std::find_if(entries.schedule.begin(), entries.schedule.end(),
                   [&](const ScheduledLimits& one) { return one.window.ends(now).has_value(); });
  return found == entries.schedule.end() ? nullptr : &*found;
}

ScalingLimits Timetable::limits() const {
  const auto entries = this->entries();
  const ScheduledLimits* const held = entry(*entries, now());
  return held == nullptr ? entries->usual : held->limits;
}

std::optional<ActiveEntry> Timetable::active() const {
  const Instant at = now();
  const auto entries = this->entries();
  const ScheduledLimits* const held = entry(*entries, at);
  if (held == nullptr) return std::nullopt;
  return ActiveEntry{held->name, TimePoint(held->window.ends(at).value_or(at))};
}

std::vector<ActiveEntry> Timetable::maintenance() const {
  std::vector<ActiveEntry> found;
  const auto entries = this->entries();
  for (const MaintenanceWindow& one : entries->maintenance) {
    if (const auto found_now = occurrence(one, now())) {
      found.push_back({one.name, TimePoint(found_now->end)});
    }
  }
  return found;
}

std::optional<TimePoint> Timetable::empty_by(Origin origin, const std::string& host) const {
  const auto entries = this->entries();
  return origin == Origin::cloud ? clouds_empty_by(*entries) : empty_by(*entries, origin, host);
}

// By when the last of them is.
std::optional<TimePoint> Timetable::clouds_empty_by(const Entries& entries) const {
  std::optional<TimePoint> last;
  for (const Origin cloud : entries.clouds) {
    const auto by = empty_by(entries, cloud, "");
    if (!by) return std::nullopt;
    last = std::max(last.value_or(*by), *by);
  }
  return last;
}

std::optional<TimePoint> Timetable::empty_by(const Entries& entries, Origin origin,
                                             const std::string& host) const {
  std::optional<TimePoint> first;
  for (const MaintenanceWindow& one : entries.maintenance) {
    if (!one.covers(origin, host)) continue;
    const auto found = occurrence(one, now());
    if (found && (!first || TimePoint(found->start) < *first)) first = TimePoint(found->start);
  }
  return first;
}

}  // namespace navtalk
