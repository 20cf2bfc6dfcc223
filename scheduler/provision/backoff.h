// Backoff of a source that failed: nobody (the scaler, a waiter) asks it for a GPU for a while.
#pragma once

#include <span>

#include "scheduler/forecast/demand.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/scaling_limits.h"
#include "scheduler/provision/blocked_by.h"

namespace navtalk {

// Why the source is not asked now; none: it may be asked.
BlockedBy backoff(const LeadTime& lead, const ScalingLimits& limits, TimePoint now);

// Whether waiters may have that operation tried at that source now. False during the backoff; after
// a failure, one attempt at a time until one succeeds.
bool may_retry(const Demand& demand, Source source, Operation operation, std::span<const Gpu> gpus,
               TimePoint now);

}  // namespace navtalk
