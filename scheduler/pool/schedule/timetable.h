// The pool's limits by the time of day, and when GPUs are in maintenance: [[pool.schedule]] and
// [[pool.maintenance]]. Each entry follows the wall clock of its own time zone. Const members are
// thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/calendar/recurring_window.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/scaling_limits.h"

namespace navtalk {

struct ScheduledLimits {
  std::string name;
  RecurringWindow window;
  ScalingLimits limits{};  // all of the pool's limits while the entry is active
};

struct MaintenanceWindow {
  std::string name;
  RecurringWindow window;
  Duration ahead{};                  // how long before the start GPUs begin to drain
  std::vector<Source> sources{};     // empty: all
  std::vector<std::string> hosts{};  // of local GPUs; empty: all

  bool covers(Source source, const std::string& host) const;
};

// An entry that is active now.
struct ActiveEntry {
  std::string name;
  TimePoint until{};  // wall clock

  friend bool operator==(const ActiveEntry&, const ActiveEntry&) = default;
};

class Timetable {
 public:
  using Wall = std::function<TimePoint()>;

  // `usual`: the limits while no entry is active. Of `schedule`, the first that is under way is active.
  explicit Timetable(ScalingLimits usual, std::vector<ScheduledLimits> schedule = {},
                     std::vector<MaintenanceWindow> maintenance = {}, Wall wall = system_clock_now);
  static TimePoint system_clock_now();

  ScalingLimits limits() const;
  std::optional<ActiveEntry> active() const;
  // The windows under way, including those for which GPUs are already draining; until: their end.
  std::vector<ActiveEntry> maintenance() const;
  // Is the GPU in maintenance, or draining for it? `host`: of a local GPU.
  bool in_maintenance(Source source, const std::string& host) const {
    return empty_by(source, host).has_value();
  }
  // If so: by when it must be empty, the earliest start of those windows; now while one is under way.
  std::optional<TimePoint> empty_by(Source source, const std::string& host) const;
  TimePoint wall() const { return wall_(); }

 private:
  TimeZone::Instant now() const;
  const ScheduledLimits* entry(TimeZone::Instant now) const;

  ScalingLimits usual_;
  std::vector<ScheduledLimits> schedule_;
  std::vector<MaintenanceWindow> maintenance_;
  Wall wall_;
};

}  // namespace navtalk
