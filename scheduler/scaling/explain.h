// A plan in words, for --dry-run, the log and the decision's record. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "scheduler/scaling/plan.h"

namespace navtalk {

// One sentence a line, the target first, then every action.
std::vector<std::string> explain(const Plan& plan, const ScalingLimits& limits,
                                 const Demand& demand);
// "wake local-1; create runpod"; empty: nothing to do.
std::string summary(const Plan& plan);

}  // namespace navtalk
