#include "scheduler/service/batch_lane.h"

#include <algorithm>

namespace navtalk {
namespace {

// Of a demand that has not changed.
constexpr Duration k_say_again = k_offline_demand_lasts / 3;

struct LaneWork {
  VideoMinutes work{};
  std::int64_t jobs = 0;
};

LaneWork work_of(const Division& division) {
  LaneWork sum;
  for (const TenantLine& line : division.lines) {
    sum.work += line.queued + line.released + line.running;
    sum.jobs += line.queued_jobs + line.released_jobs + line.running_jobs;
  }
  return sum;
}

}  // namespace

// Each job occupies one GPU.
int BatchLane::wanted(const Division& division, const OfflineDemand& before) const {
  const LaneWork waiting = work_of(division);
  const Demand learned = uses_.demand_tracker.demand({});
  const BatchFleet fleet{.queued = waiting.work,
                         .gpus = before.slots,
                         .most_gpus = options_.max_gpus,
                         .rate = division.capacity.rate,
                         .cold_start = learned.create_at(options_.grows_at).p90};
  const std::int64_t most = std::min<std::int64_t>(options_.max_gpus, waiting.jobs);
  return static_cast<int>(std::min<std::int64_t>(before.slots + gpus_to_start(fleet), most));
}

// That the division may count on.
int BatchLane::slots() const {
  const int most = options_.reserve + options_.max_gpus;
  if (options_.grows_at == Source::cloud) return std::max(1, most);
  int there = 0;
  for (const Gpu& gpu : uses_.pool.view().gpus) there += gpu.state == State::failed ? 0 : gpu.slots;
  return std::max(1, std::min(most, std::max(there, options_.local_slots)));
}

void BatchLane::turn() {
  const TimePoint now = uses_.tenants.now();
  uses_.tenants.divide(slots(), {options_.who, "the batch lane"}, now);
  const Division division = uses_.tenants.division();
  const OfflineDemand before = read_offline_demand(uses_.pool);
  OfflineDemand demand = before;
  if (work_of(division).jobs > 0) {
    demand.slots = wanted(division, before);
    if (demand.slots != before.slots || now - before.worked_at >= k_say_again)
      demand.worked_at = now;
  } else if (now - before.worked_at >= options_.hold) {
    demand.slots = 0;
  }
  const bool again = demand.slots > 0 && now - before.said_at >= k_say_again;
  if (demand != before || again) {
    demand.said_at = now;
    write_offline_demand(uses_.pool, demand);
  }
  if (demand.slots > 0 && work_of(division).jobs > 0) uses_.supply.ensure_for_jobs();
}

}  // namespace navtalk
