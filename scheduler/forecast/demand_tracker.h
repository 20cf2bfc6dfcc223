// What one process has learned from the store: demand, lead times, how well promised ETAs held. The
// scaler and the allocator of a process share one. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "scheduler/forecast/demand.h"
#include "scheduler/forecast/eta_correction.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

class DemandTracker {
 public:
  // Loads the last 24 hours of demand and attempts.
  explicit DemandTracker(PoolStore& store, DemandOptions options = {});

  // The demand as the store shows it; read again when the last reading is older than `fresh`.
  Demand demand(Duration fresh = std::chrono::seconds(5));
  // The factor on promised waits with which nine in ten hold. The first call reads the promises of
  // the last day; a process that promises nothing reads none.
  double eta_correction();

 private:
  void observe(TimePoint now);
  void read_promises(TimePoint now);

  PoolStore& store_;
  std::mutex mutex_;
  DemandEstimator estimator_;
  TimePoint observed_at_;
  TimePoint attempts_until_;  // the estimator has all attempts up to here
  EtaCorrection promises_;
  std::optional<TimePoint> promises_read_at_{};
  double eta_correction_ = 1;
};

}  // namespace navtalk
