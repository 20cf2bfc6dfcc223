// A pool on a virtual clock: users of a trace, GPUs that take time to start and fail, and a policy.
// The shipped policies run the shipped decide(), DemandEstimator, ETA and prepare-next. Event by
// event, seeded, no threads: the same input gives the same result.
#pragma once

#include <stop_token>

#include "scheduler/pool/scaling_limits.h"
#include "scheduler/simulator/baseline_policy.h"
#include "scheduler/simulator/trace/trace.h"

namespace navtalk {

// Chances of one operation; the rest succeeds.
struct Faults {
  double no_capacity = 0;  // refused at once
  double fails = 0;        // breaks while it starts
  double hangs = 0;        // never becomes ready: the start deadline ends it
  double unknown = 0;      // the call fails, half of these times the GPU exists nevertheless
  double wake_fails = 0;
  double crashes_per_h = 0;                     // of one GPU
  double restarts_per_day = 0;                  // of the controller
  Duration restart = std::chrono::seconds(30);  // how long one takes
};

struct SimulatorOptions {
  std::uint64_t seed = 1;
  // From the call to ready: lognormal, this median, sigma `lead_sigma` (0.4: p90 is 1.67 times and
  // p99 2.5 times the median). Waking and local creation in proportion.
  double lead_s = 90, lead_sigma = 0.4;
  double local_lead_s = 20, wake_s = 5, cloud_wake_s = 60;
  int local_gpus = 0;
  int slots = 1;               // per GPU
  double usd_per_hour = 0.69;  // of a cloud GPU
  double patience_s = 300;     // then a waiting user leaves
  Faults faults{};
  int utilisation_least = 1;  // slots that the utilisation policy never goes below
  bool reconcile = true;      // false shows what would leak
  ScalingLimits limits{};     // of the shipped policies; the strategy sets policy and knob
};

struct SimulatorResult {
  std::size_t sessions = 0, waited = 0, abandoned = 0, interrupted = 0;
  double p_wait = 0, p50_wait_s = 0, p99_wait_s = 0;  // over all sessions
  double mean_wait_s = 0;                             // of those who waited
  double gpu_hours = 0;  // paid or occupied: from the call to the end, not paused
  double cloud_gpu_hours = 0, usd = 0;
  double leaked_gpu_hours = 0;  // paid, and in no row
  double busy_hours = 0;        // slot-hours of sessions
  int starts = 0;               // creations and wakes
  double reversals_per_h = 0;   // changes between growing and shrinking
  double eta_coverage = 0;      // share of promises that held; 0 without promises
  int promises = 0;
  int busy_reclaimed = 0;  // must be 0
};

// Error{interrupted}, Error{terminated} on a stop request.
SimulatorResult simulate(const Trace& trace, const Strategy& strategy,
                         const SimulatorOptions& options, const std::stop_token& stop = {});

}  // namespace navtalk
