// When the cloud is used under `cloud = "auto"`: on once local capacity has not been enough for the
// target or for P(wait) for some ticks, off after a quiet time without that need. Pure.
#pragma once

#include "scheduler/scaling/target.h"

namespace navtalk {

// The memory for the next tick; its cloud_on is the switch under every setting of `cloud`.
ScalerMemory updated_memory(const Snapshot& snapshot, const ScalingLimits& limits,
                            const Capacity& capacity, const Target& target, TimePoint now);

}  // namespace navtalk
