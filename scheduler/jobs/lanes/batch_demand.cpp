#include "scheduler/jobs/lanes/batch_demand.h"

#include <algorithm>

#include "scheduler/jobs/lanes/batch_fleet.h"
#include "scheduler/jobs/lanes/fleet_memory.h"

namespace navtalk {
namespace {

// A demand that has not changed.
constexpr Duration k_say_again = k_offline_demand_lasts / 3;
// Without work. Less may be two turns that were far apart.
constexpr Duration k_least_gap = 2 * k_say_again;

// By the work that there is: each job occupies one slot.
int for_work(const OfflineDemand& before, const LaneWork& work, const LaneGrowth& lane) {
  const BatchFleet fleet{.queued = work.work,
                         .gpus = before.slots + lane.left,
                         .most_gpus = lane.max_gpus + lane.left,
                         .rate = lane.rate,
                         .cold_start = lane.cold_start};
  const std::int64_t grown = before.slots + gpus_to_start(fleet);
  return static_cast<int>(std::clamp<std::int64_t>(work.jobs - lane.left, 0, grown));
}

void remember(OfflineDemand& demand, const LaneWork& work, const LaneGrowth& lane, TimePoint now) {
  const Duration passed = now - demand.sampled_at;
  if (passed < k_need_sample && passed >= Duration{}) return;
  const double needed = needed_slots(static_cast<double>(work.running_jobs), lane.left);
  demand.needed = smoothed_need(demand.needed, needed, passed);
  demand.sampled_at = now;
}

}  // namespace

LaneWork work_of(std::span<const TenantLine> lines) {
  LaneWork sum;
  for (const TenantLine& line : lines) {
    sum.work += line.queued + line.released + line.running;
    sum.running_jobs += line.running_jobs;
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
  const bool worked = before.worked_at != TimePoint{};
  const Duration pause = now - before.worked_at;
  if (work.jobs > 0 && worked && pause >= k_least_gap)
    demand.gap = learnt_gap(before.gap, pause, lane.cold_start);
  if (work.jobs > 0 || before.slots > 0) remember(demand, work, lane, now);
  const int kept = gpus_to_keep(demand.needed);
  if (work.jobs > 0) {
    demand.slots = std::max(for_work(before, work, lane), kept);
    if (demand.slots != before.slots || pause >= k_say_again) demand.worked_at = now;
  } else if (pause >= std::max(lane.hold, idle_hold(lane.cold_start, demand.gap))) {
    demand.slots = 0;
    demand.needed = 0;
  } else if (before.slots > 0) {
    demand.slots = std::clamp(kept, 1, before.slots);
  }
  demand.slots = std::min(demand.slots, lane.max_gpus);
  const bool again = demand.slots > 0 && now - before.said_at >= k_say_again;
  if (demand != before || again) demand.said_at = now;
  return demand;
}

}  // namespace navtalk
