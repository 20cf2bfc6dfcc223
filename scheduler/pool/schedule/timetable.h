// The pool's limits by the time of day, and when GPUs are in maintenance: [[pool.schedule]] and
// [[pool.maintenance]]. Each entry follows the wall clock of its own time zone. Thread-safe:
// its entries may be replaced while others ask.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "core/calendar/recurring_window.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/origin.h"
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
  std::vector<Origin> origins{};     // empty: all
  std::vector<std::string> hosts{};  // of local GPUs; empty: all

  bool covers(Origin origin, const std::string& host) const;
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
  // `clouds`: those that the pool uses.
  explicit Timetable(ScalingLimits usual, std::vector<ScheduledLimits> schedule = {},
                     std::vector<MaintenanceWindow> maintenance = {}, Wall wall = system_clock_now,
                     std::vector<Origin> clouds = {Origin::runpod});
  static TimePoint system_clock_now();

  ScalingLimits limits() const;
  std::optional<ActiveEntry> active() const;
  // The windows under way, including those for which GPUs are already draining; until: their end.
  std::vector<ActiveEntry> maintenance() const;
  // Is the GPU in maintenance, or draining for it? `host`: of a local GPU. Origin::cloud: are all clouds?
  bool in_maintenance(Origin origin, const std::string& host) const {
    return empty_by(origin, host).has_value();
  }
  // If so: by when it must be empty, the earliest start of those windows; now while one is under way.
  std::optional<TimePoint> empty_by(Origin origin, const std::string& host) const;
  TimePoint wall() const { return wall_(); }
  // From now on it has the other one's limits, entries and windows.
  void replace_by(const Timetable& other);

 private:
  struct Entries {
    ScalingLimits usual{};
    std::vector<ScheduledLimits> schedule{};
    std::vector<MaintenanceWindow> maintenance{};
    std::vector<Origin> clouds{};
  };

  TimeZone::Instant now() const;
  std::shared_ptr<const Entries> entries() const;
  std::optional<TimePoint> clouds_empty_by(const Entries& entries) const;
  std::optional<TimePoint> empty_by(const Entries& entries, Origin origin,
                                    const std::string& host) const;
  static const ScheduledLimits* entry(const Entries& entries, TimeZone::Instant now);

  Guarded<std::shared_ptr<const Entries>> entries_;
  Wall wall_;
};

}  // namespace navtalk
