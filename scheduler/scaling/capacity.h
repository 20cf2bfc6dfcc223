// The slots of the shared pool, counted once for each decision. Pure, thread-safe.
#pragma once

#include "scheduler/pool/scaling_limits.h"
#include "scheduler/scaling/snapshot.h"

namespace navtalk {

struct Capacity {
  int busy = 0;      // users' sessions
  int free = 0;      // on idle and running GPUs that answer, with what is lent
  int starting = 0;  // will be ready soon
  int holding = 0;   // of failed and silent GPUs that are not replaced yet; see is_replaced()
  int paused = 0;    // can be woken
  int local = 0;     // of local and external GPUs, and of those that could be created there
  int gpus = 0;      // rows that count for max_gpus
  double usd_per_hour = 0;

  // What the target is compared with.
  int supply() const { return busy + free + starting; }
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

// Is a failed GPU not replaced yet? One that may return has the whole hold after an outage, and is
// kept until it was asked.
bool in_hold(const Gpu& gpu, const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now);

// Is a silent GPU replaced in advance, as if it had failed? The only cloud GPU that serves is, in an
// outage, after the hold: it may as well be dead.
bool is_replaced(const Gpu& gpu, const Snapshot& snapshot, const ScalingLimits& limits,
                 TimePoint now);

Capacity capacity_of(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now);

}  // namespace navtalk
