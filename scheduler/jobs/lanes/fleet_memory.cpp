#include "scheduler/jobs/lanes/fleet_memory.h"

#include <algorithm>
#include <cmath>

namespace navtalk {
namespace {

// In which the mean forgets all but e^-1 of what was before. A fall is believed later, since jobs come in batches.
constexpr Duration k_rises_in = std::chrono::minutes(10), k_falls_in = std::chrono::minutes(15);
constexpr double k_negligible_gpu = 0.05;  // a mean reaches nothing
constexpr double k_need_of_one = 1.4;      // one job needs 1.25
constexpr int k_gap_memory = 4;            // gaps
constexpr int k_gaps_waited = 3;
constexpr int k_short_gap = 2, k_longest_gap = 4;  // cold starts

}  // namespace

double smoothed_need(double before, double now, Duration passed) {
  const Duration memory = now > before ? k_rises_in : k_falls_in;
  const double kept = std::exp(-in_seconds(std::max(passed, Duration{})) / in_seconds(memory));
  return std::max(0.0, now + (before - now) * kept);
}

double needed_slots(double running, double left) { return running / k_most_utilisation - left; }

int gpus_to_keep(double needed) {
  const double gpus = std::ceil(std::max(needed - k_negligible_gpu, 0.0));
  return static_cast<int>(needed < k_need_of_one ? std::min(gpus, 1.0) : gpus);
}

Duration learnt_gap(Duration before, Duration gap, Duration cold_start) {
  const Duration counted = std::min(gap, k_longest_gap * cold_start);
  return before == Duration{} ? counted : before + (counted - before) / k_gap_memory;
}

Duration idle_hold(Duration cold_start, Duration gap) {
  if (gap == Duration{}) return cold_start;
  return gap <= k_short_gap * cold_start ? std::max(cold_start, k_gaps_waited * gap) : Duration{};
}

}  // namespace navtalk
