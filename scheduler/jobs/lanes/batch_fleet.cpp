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

int gpus_for(double arriving, double rate, double utilisation, bool any_work) {
  const int least = any_work ? 1 : 0;
  if (rate <= 0 || utilisation <= 0) return least;
  return std::max(least, static_cast<int>(std::ceil(arriving / (rate * utilisation))));
}

int change_of_loan(const LentReserve& reserve) {
  // While a user waits, everything that was lent is wanted back.
  if (reserve.live_waiting > 0) return -std::min(reserve.lent, reserve.live_waiting);
  // Free GPUs beyond none: the reserve may be lent whole, since it is back within ten seconds.
  const int may_lend = std::min(reserve.reserve, reserve.live_free + reserve.lent);
  return may_lend - reserve.lent;
}

}  // namespace navtalk
