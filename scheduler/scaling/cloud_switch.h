// When the cloud is used under `cloud = "auto"`: on when local capacity cannot hold the wanted
// P(wait) for some ticks, off after a quiet time without that need. Pure.
#pragma once

#include "scheduler/scaling/plan.h"

namespace navtalk {

// The memory afterwards; its cloud_on is the switch, whatever the policy.
ScalerMemory updated_memory(const Snapshot& snapshot, const ScalingLimits& limits,
                            const Census& census, const Wanted& wanted, TimePoint now);

}  // namespace navtalk
