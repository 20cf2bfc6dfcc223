#include "scheduler/forecast/demand_tracker.h"

namespace navtalk {
namespace {

constexpr Duration k_day = std::chrono::hours(24);
// Buckets still grow while they are the newest; some are read again.
constexpr Duration k_overlap = 6 * k_demand_bucket;
constexpr Duration k_promises_every = std::chrono::seconds(5);

}  // namespace

DemandTracker::DemandTracker(PoolStore& store, DemandOptions options)
    : store_(store), estimator_(store.now() - k_day, options) {
  const TimePoint now = store.now();
  const std::vector<Attempt> attempts = store.attempts(now - k_day);
  estimator_.load(store.demand(now - k_day), attempts, now);
  attempts_until_ = now;
  observed_at_ = now;
}

Demand DemandTracker::demand(Duration fresh) {
  const TimePoint now = store_.now();
  const std::lock_guard lock(mutex_);
  if (now - observed_at_ >= fresh) observe(now);
  return estimator_.demand(now);
}

double DemandTracker::eta_correction() {
  const std::lock_guard lock(mutex_);
  if (!promises_read_at_) read_promises(store_.now());
  return eta_correction_;
}

void DemandTracker::observe(TimePoint now) {
  const std::vector<DemandBucket> buckets = store_.demand(observed_at_ - k_overlap);
  estimator_.observe(buckets, now);
  for (const Attempt& attempt : store_.attempts(attempts_until_)) {
    if (attempt.at <= attempts_until_) continue;
    estimator_.attempted(attempt);
    attempts_until_ = attempt.at;
  }
  observed_at_ = now;
  if (promises_read_at_ && now - *promises_read_at_ >= k_promises_every) read_promises(now);
}

void DemandTracker::read_promises(TimePoint now) {
  promises_.read(store_, now);
  eta_correction_ = promises_.factor();
  promises_read_at_ = now;
}

}  // namespace navtalk
