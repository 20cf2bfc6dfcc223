// The scaler's decision, shared by the live scaler, its dry run and the simulator. Pure,
// O(GPUs log GPUs) at worst, thread-safe.
//
//   Snapshot ──capacity_of()──► Capacity: the slots there are
//            ──target_for()───► Target: how many slots there should be   (by the policy)
//            ──plan_for()─────► Plan: the actions that lead there        (rules, the same for all)
#pragma once

#include "scheduler/scaling/plan.h"

namespace navtalk {

Plan decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now);
// The same into an existing plan, whose allocations are used again.
void decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan);
// Only the rules, for a target that something else has chosen (the simulator's baseline policies).
void plan_for(const Snapshot& snapshot, const ScalingLimits& limits, const Target& target,
              TimePoint now, Plan& plan);

}  // namespace navtalk
