// What somebody would pay who knows every arrival and every lead time: the least GPU time with
// which nobody waits. A bound to measure policies by, not a policy.
#pragma once

#include "scheduler/simulator/simulator.h"

namespace navtalk {

// Sessions stacked on GPUs as they come, the fullest first: GPU k is needed while k sessions are
// on. Between two such times it is kept when that is shorter than starting it anew (the median lead
// time), else given back and started in time.
SimulatorResult oracle(const Trace& trace, const SimulatorOptions& options);

}  // namespace navtalk
