// A source that failed is left alone for a while, whoever wants a GPU of it: the scaler, a waiter.
#pragma once

#include <span>

#include "scheduler/scaling/plan.h"

namespace navtalk {

// Why it is left alone; none: it may be asked.
Hindrance resting(const LeadTime& lead, const Policy& policy, TimePoint now);

// May waiters have that operation done at that source now? Not while it rests; after a failure one
// try tells whether the next ones have a chance.
bool may_be_asked(const Demand& demand, Source source, Operation operation,
                  std::span<const Gpu> gpus, TimePoint now);

}  // namespace navtalk
