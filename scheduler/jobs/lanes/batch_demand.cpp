#include "scheduler/jobs/lanes/batch_demand.h"

#include <algorithm>

#include "scheduler/jobs/lanes/batch_fleet.h"

namespace navtalk {
namespace {

// A demand that has not changed.
constexpr Duration k_say_again = k_offline_demand_lasts / 3;

// Each job occupies one GPU.
int wanted(const OfflineDemand& before, const LaneWork& work, const LaneGrowth& lane) {
  const BatchFleet fleet{.queued = work.work,
                         .gpus = before.slots,
                         .most_gpus = lane.max_gpus,
                         .rate = lane.rate,
                         .cold_start = lane.cold_start};
  const std::int64_t most = std::min<std::int64_t>(lane.max_gpus, work.jobs);
  return static_cast<int>(std::min<std::int64_t>(before.slots + gpus_to_start(fleet), most));
}

}  // namespace

LaneWork work_of(std::span<const TenantLine> lines) {
  LaneWork sum;
  for (const TenantLine& line : lines) {
    sum.work += line.queued + line.released + line.running;
    sum.jobs += line.queued_jobs + line.released_jobs + line.running_jobs;
  }
  return sum;
}

int slots_counted_on(int most, int there, int of_users) {
  return std::max(1, std::min(most, there - of_users));
}

OfflineDemand demand_after(const OfflineDemand& before, const LaneWork& work,
                           const LaneGrowth& lane, TimePoint now) {
  OfflineDemand demand = before;
  if (work.jobs > 0) {
    demand.slots = wanted(before, work, lane);
    if (demand.slots != before.slots || now - before.worked_at >= k_say_again)
      demand.worked_at = now;
  } else if (now - before.worked_at >= lane.hold) {
    demand.slots = 0;
  }
  const bool again = demand.slots > 0 && now - before.said_at >= k_say_again;
  if (demand != before || again) demand.said_at = now;
  return demand;
}

}  // namespace navtalk
