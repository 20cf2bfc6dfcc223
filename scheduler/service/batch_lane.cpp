#include "scheduler/service/batch_lane.h"

#include <algorithm>

#include "scheduler/jobs/lanes/batch_demand.h"

namespace navtalk {
namespace {

// That serve now and that users leave, lent or free.
int slots_for_jobs(const std::vector<Gpu>& gpus) {
  int slots = 0;
  for (const Gpu& gpu : gpus) {
    if (gpu.serving() && shared(gpu) && !silent(gpu)) slots += gpu.slots - gpu.sessions + gpu.lent;
  }
  return slots;
}

}  // namespace

// That the division may count on.
int BatchLane::slots() const {
  const int most = options_.reserve + options_.max_gpus;
  if (options_.grows_at == Source::cloud) return slots_counted_on(most, most, 0);
  int there = 0, of_users = 0;
  for (const Gpu& gpu : uses_.pool.view().gpus) {
    if (gpu.state == State::failed || !shared(gpu)) continue;
    there += gpu.slots;
    of_users += gpu.sessions - gpu.lent;
  }
  return slots_counted_on(most, std::max(there, options_.local_slots), of_users);
}

void BatchLane::turn() {
  const TimePoint now = uses_.tenants.now();
  uses_.tenants.divide(slots(), {options_.who, "the batch lane"}, now,
                       slots_for_jobs(uses_.pool.view().gpus));
  const Division division = uses_.tenants.division();
  const LaneWork work = work_of(division.lines);
  LaneGrowth growth{
      .max_gpus = options_.max_gpus, .rate = division.capacity.rate, .hold = options_.hold};
  if (work.jobs > 0)
    growth.cold_start = uses_.demand_tracker.demand({}).create_at(options_.grows_at).p90;
  const OfflineDemand before = read_offline_demand(uses_.pool);
  const OfflineDemand demand = demand_after(before, work, growth, now);
  if (demand != before) write_offline_demand(uses_.pool, demand);
  if (demand.slots > 0 && work.jobs > 0) uses_.supply.ensure_for_jobs();
}

}  // namespace navtalk
