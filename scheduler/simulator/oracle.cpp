#include "scheduler/simulator/oracle.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace navtalk {

SimulatorResult oracle(const Trace& trace, const SimulatorOptions& options) {
  std::vector<std::pair<Duration, int>> changes;
  changes.reserve(trace.size() * 2);
  SimulatorResult result{.sessions = trace.size()};
  for (const TracedSession& session : trace) {
    changes.emplace_back(session.arrival, 1);
    changes.emplace_back(session.arrival + session.duration, -1);
    result.busy_hours += in_seconds(session.duration) / 3600;
  }
  // At one moment ends come before arrivals: their slot serves again.
  std::sort(changes.begin(), changes.end());
  const Duration lead = from_seconds(options.lead_s);
  std::vector<std::pair<bool, Duration>> levels;  // of GPU k: on since, or off since
  Duration used{}, started{};
  int sessions = 0;
  const auto switch_level = [&](std::size_t level, Duration at, bool on) {
    if (level == levels.size()) {
      levels.emplace_back(true, at);
      started += lead;
      ++result.starts;
      return;
    }
    const Duration passed = at - levels[level].second;
    if (!on) {
      used += passed;
    } else if (passed <= lead) {
      used += passed;  // kept
    } else {
      started += lead;
      ++result.starts;
    }
    levels[level] = {on, at};
  };
  for (const auto& [at, change] : changes) {
    const int before = (sessions + options.slots - 1) / options.slots;
    sessions += change;
    const int after = (sessions + options.slots - 1) / options.slots;
    if (after > before) switch_level(static_cast<std::size_t>(before), at, true);
    if (after < before) switch_level(static_cast<std::size_t>(after), at, false);
  }
  result.gpu_hours = in_seconds(used + started) / 3600;
  result.cloud_gpu_hours = result.gpu_hours;
  result.usd = result.gpu_hours * options.usd_per_hour;
  return result;
}

}  // namespace navtalk
