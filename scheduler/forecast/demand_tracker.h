// What one process has learnt from the store: demand, lead times, how well promises held. The
// scaler and the allocator of a process share one. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "scheduler/forecast/demand.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

class DemandTracker {
 public:
  // Loads the last 24 hours.
  explicit DemandTracker(PoolStore& store, DemandOptions options = {});

  // The demand as the store shows it; read again when the last look is older than `fresh`.
  Demand demand(Duration fresh = std::chrono::seconds(5));
  // By how much promised waits must be stretched so that nine in ten hold.
  double eta_correction();

 private:
  void look(TimePoint now);

  PoolStore& store_;
  std::mutex mutex_;
  DemandEstimator estimator_;
  TimePoint looked_at_;
  TimePoint attempts_until_;  // attempts up to here were given to the estimator
  TimePoint corrected_at_;
  double eta_correction_ = 1;
};

}  // namespace navtalk
