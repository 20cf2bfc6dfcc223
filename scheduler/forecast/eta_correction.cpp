#include "scheduler/forecast/eta_correction.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "scheduler/forecast/wait_estimate.h"

namespace navtalk {
namespace {

constexpr double k_most_correction = 4;

double bounded(double log_factor) {
  return std::clamp(log_factor, 0.0, std::log(k_most_correction));
}

bool broke(const Promise& promise) { return *promise.actual > promise.promised; }

// How far an outcome moves the factor's logarithm: it settles where nine in ten hold.
double step(bool broke) {
  constexpr double k_step = 0.1;
  return k_step * ((broke ? 1.0 : 0.0) - (1 - k_promise));
}

EtaCorrection::Run run_of(const std::vector<std::uint32_t>& outcomes) {
  EtaCorrection::Run run{.shift = 0, .least = 0, .most = bounded(INFINITY)};
  for (const std::uint32_t outcome : outcomes) {
    const double by = step((outcome & 1U) != 0);
    run = {
        .shift = run.shift + by, .least = bounded(run.least + by), .most = bounded(run.most + by)};
  }
  return run;
}

// Behind those of the same microsecond.
void insert(std::vector<std::uint32_t>& outcomes, Duration since_start, bool broke) {
  const auto at = static_cast<std::uint32_t>(since_start.count());
  const auto place =
      std::upper_bound(outcomes.begin(), outcomes.end(), at,
                       [](std::uint32_t wanted, std::uint32_t one) { return wanted < one >> 1U; });
  outcomes.insert(place, at << 1U | (broke ? 1U : 0U));
}

TimePoint bucket_of(TimePoint at) {
  return TimePoint(at.time_since_epoch() / EtaCorrection::k_bucket * EtaCorrection::k_bucket);
}

}  // namespace

double eta_correction(std::span<const Promise> promises) {
  double log_factor = 0;
  for (const Promise& promise : promises) {
    if (promise.actual) log_factor = bounded(log_factor + step(broke(promise)));
  }
  return std::exp(log_factor);
}

void EtaCorrection::read(PoolStore& store, TimePoint now) {
  const TimePoint begin = bucket_of(now - k_window);
  if (now < known_until_) *this = {};
  known_until_ = std::max(known_until_, begin - Duration(1));
  std::set<TimePoint> changed;
  for (const Promise& promise :
       store.promises({.made_since = begin, .known_after = known_until_})) {
    const TimePoint start = bucket_of(promise.made_at);
    insert(buckets_[start].outcomes, promise.made_at - start, broke(promise));
    changed.insert(start);
    known_until_ = promise.made_at + *promise.actual;
  }
  for (const TimePoint start : changed) {
    Bucket& bucket = buckets_[start];
    bucket.run = run_of(bucket.outcomes);
  }
  buckets_.erase(buckets_.begin(), buckets_.lower_bound(begin));
}

double EtaCorrection::factor() const {
  double log_factor = 0;
  for (const auto& [start, bucket] : buckets_) {
    log_factor = std::clamp(log_factor + bucket.run.shift, bucket.run.least, bucket.run.most);
  }
  return std::exp(log_factor);
}

}  // namespace navtalk
