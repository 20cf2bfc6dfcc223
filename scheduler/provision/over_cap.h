// GPUs that the cap on spending (pool.max_usd_per_hour) does not leave room for any more, because a
// price turned out higher than expected, or rose. Stateless.
//
//   without sessions    destroyed
//   with sessions       draining: destroyed when the last session has ended
//
// Of cloud GPUs as many as fit in stay: draining ones last, those with sessions before idle ones,
// idle ones before starting ones, among equals the cheapest first.
#pragma once

#include <string>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// Those to give up. GPUs that are being destroyed do not count: else one that is too expensive would
// take others with it. What is not given up (no cloud GPU of the shared pool, or an operation on it is
// under way) counts before the others. Pure.
std::vector<Gpu> over_cap(const std::vector<Gpu>& gpus, double max_usd_per_hour);

// Gives them up, with the reason as last error, an event and a warning. False when the rows are within
// the cap, or there is none (0).
bool give_up_over_cap(PoolStore& store, double max_usd_per_hour, const std::string& who);

}  // namespace navtalk
