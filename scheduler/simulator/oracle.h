// The least GPU time with which nobody waits, if every arrival and every lead time were known: a lower
// bound for policies, not a policy.
#pragma once

#include "scheduler/simulator/simulator.h"

namespace navtalk {

// Sessions stacked on GPUs as they come, the fullest first: GPU k is needed while k sessions are
// on. Between two such times it is kept when that is shorter than starting it anew (the median lead
// time), else released, and started again in time.
SimulatorResult oracle(const Trace& trace, const SimulatorOptions& options);

}  // namespace navtalk
