#include "scheduler/jobs/lanes/batch_fleet.h"

#include <algorithm>
#include <cmath>

namespace navtalk {

int gpus_to_start(const BatchFleet& fleet) {
  const int room = std::max(fleet.most_gpus - fleet.gpus, 0);
  if (fleet.queued <= VideoMinutes{} || room == 0) return 0;
  if (fleet.gpus == 0) return 1;  // its first results teach the rate
  if (fleet.rate <= 0) return 0;
  const double work = fleet.queued.count();
  const double cold_min = in_seconds(fleet.cold_start) / 60;
  const double lasts_min = work / (fleet.gpus * fleet.rate);
  if (lasts_min <= fleet.growth_factor * cold_min) return 0;
  const double goal_min =
      std::max({in_seconds(fleet.goal) / 60, fleet.growth_factor * cold_min, cold_min + 1});
  const double left = work - fleet.gpus * fleet.rate * cold_min;
  const double needed = std::ceil(left / (fleet.rate * (goal_min - cold_min)));
  return static_cast<int>(std::clamp(needed - fleet.gpus, 1.0, static_cast<double>(room)));
}

}  // namespace navtalk
