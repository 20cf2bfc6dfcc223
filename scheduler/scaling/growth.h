// The rule that starts GPUs until the target is met or something blocks it.
#pragma once

#include "scheduler/scaling/plan.h"

namespace navtalk {

// Appends wakes and creations to the plan: local before cloud, and at each source first the way
// that is likely to be faster. Sets plan.missing and plan.blocked_by. The plan has its capacity,
// its target and its cloud switch already.
void grow(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan);

}  // namespace navtalk
