// The batch lane's supply of a pool's rows: said by the lane's turns as a setting of the pool, and read with the division.
#pragma once

#include <span>

#include "scheduler/forecast/demand.h"
#include "scheduler/jobs/lanes/lane_supply.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// Slots that users leave on these GPUs, beside `own` that the lane wants.
int left_by_users(std::span<const Gpu> gpus, int own);

struct LaneLimits {
  int own = 0;             // slots that the lane wants
  int max_gpus = 0;        // that it may want
  int keep_free = 0;       // that are not lent
  Duration failed_hold{};  // a failed GPU is not replaced before
};
LaneSupply supply_of(std::span<const Gpu> gpus, const Demand& learnt, Source grows_at,
                     const LaneLimits& limits);

// Writes what has changed, and returns whether anything had. `times`: also where only the times are others, as those are that another
// process has learnt. Error{failed} when the database cannot be reached.
bool write_lane_supply(PoolStore& store, const LaneSupply& supply, bool times = true);
// What was written last; nothing is known where nobody has.
LaneSupply read_lane_supply(Transaction& transaction);

}  // namespace navtalk
