#include "scheduler/service/batch_lane.h"

#include <algorithm>

#include "scheduler/jobs/lanes/batch_demand.h"
#include "scheduler/jobs/lanes/said_supply.h"

namespace navtalk {
namespace {

// Times that other gateways have learnt otherwise are told anew no more often.
constexpr Duration k_times_again = std::chrono::seconds(10);

// That serve now and that users leave, lent or free. Of a GPU that drains or is silent those that are lent: the jobs there count, too.
int slots_for_jobs(const std::vector<Gpu>& gpus) {
  int slots = 0;
  for (const Gpu& gpu : gpus) {
    if (!gpu.serving()) continue;
    slots += shared(gpu) && !silent(gpu) ? gpu.slots - gpu.sessions + gpu.lent : gpu.lent;
  }
  return slots;
}

}  // namespace

// That the division may count on.
int BatchLane::slots(std::span<const Gpu> gpus) const {
  const int most = options_.reserve + options_.max_gpus;
  if (options_.grows_at == Source::cloud) return slots_counted_on(most, most, 0);
  int there = 0, of_users = 0;
  for (const Gpu& gpu : gpus) {
    if (gpu.state == State::failed || !shared(gpu)) continue;
    there += gpu.slots;
    of_users += gpu.sessions - gpu.lent;
  }
  return slots_counted_on(most, std::max(there, options_.local_slots),
                          of_users + options_.keep_free);
}

void BatchLane::turn() {
  const TimePoint now = uses_.tenants.now();
  const std::vector<Gpu> gpus = uses_.pool.view().gpus;
  uses_.tenants.divide(slots(gpus), {options_.who, "the batch lane"}, now,
                       std::max(slots_for_jobs(gpus) - options_.keep_free, 0));
  const Division division = uses_.tenants.division();
  const LaneWork work = work_of(division.lines);
  const OfflineDemand before = read_offline_demand(uses_.pool);
  // What the scaler keeps for users; of other GPUs that users leave it ends those that the lane does not want.
  const int unlent = std::max(left_by_users(gpus, before.slots) - options_.keep_free, 0);
  const int left = std::min(unlent, options_.reserve);
  const Demand learnt = uses_.demand_tracker.demand();
  const OfflineDemand demand = demand_after(before, work,
                                            {.max_gpus = options_.max_gpus,
                                             .rate = division.capacity.rate,
                                             .cold_start = learnt.create_at(options_.grows_at).p90,
                                             .hold = options_.hold,
                                             .left = left},
                                            now);
  if (demand != before) write_offline_demand(uses_.pool, demand);
  const LaneSupply supply = supply_of(gpus, learnt, options_.grows_at,
                                      {.own = demand.slots,
                                       .max_gpus = options_.max_gpus,
                                       .keep_free = options_.keep_free,
                                       .failed_hold = options_.failed_hold});
  const bool times = now - supply_said_at_ >= k_times_again || now < supply_said_at_;
  if (write_lane_supply(uses_.pool, supply, times)) supply_said_at_ = now;
  if (demand.slots > 0 && work.jobs > 0) uses_.supply.ensure_for_jobs();
}

}  // namespace navtalk
