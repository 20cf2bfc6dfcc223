// The GPUs that an operator paused. The scaler lets them be, whatever their disk costs, until
// somebody wakes them; what it paused itself it may also destroy. Kept in the store, each with the
// number of the pause's intent: any later wake or pause of the GPU has another number.
#pragma once

#include <set>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// `row`: as it is with the intent of that pause. Error{failed} when others write all the time.
void keep_paused(PoolStore& store, const Gpu& row);
// Those of `gpus`.
std::set<GpuId> kept_paused(PoolStore& store, const std::vector<Gpu>& gpus);

}  // namespace navtalk
