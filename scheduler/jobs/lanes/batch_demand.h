// How many slots offline work wants beside those of users, turn by turn. Pure: the batch lane and the simulator of the lanes
// both follow it.
//
//   work ──► slots that it has, and gpus_to_start() more, one a job at most ─┐
//   slots that jobs needed lately ──► gpus_to_keep() ────────────────────────┴► the larger one is said to the scaler
//   no work for the hold ──► none
#pragma once

#include <span>

#include "scheduler/jobs/shares/tenant_line.h"
#include "scheduler/pool/offline_demand.h"

namespace navtalk {

// Of all tenants: what is queued, released and running.
struct LaneWork {
  VideoMinutes work{};
  std::int64_t jobs = 0, running_jobs = 0;
};
LaneWork work_of(std::span<const TenantLine> lines);

struct LaneGrowth {
  int max_gpus = 0;  // slots that work may have besides what users leave
  double rate = 0;   // video-minutes that one GPU renders in a minute, as measured; 0: not known
  Duration cold_start{};  // until a new GPU renders: p90, as measured
  Duration hold{};        // slots are kept for so long after the last work, at least
  int left = 0;           // slots of users that they leave now, beside the lane's own
};

// That the division may count on: at least one, at most what the lane may have, and of the slots that are there what users
// leave now. Work that is promised with slots which users have would be late.
int slots_counted_on(int most, int there, int of_users);

// What is to be said now. It differs from `before` whenever it is to be said, a demand that has not changed thrice in
// k_offline_demand_lasts.
OfflineDemand demand_after(const OfflineDemand& before, const LaneWork& work,
                           const LaneGrowth& lane, TimePoint now);

}  // namespace navtalk
