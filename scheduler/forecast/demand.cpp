#include "scheduler/forecast/demand.h"

#include <algorithm>

namespace navtalk {
namespace {

constexpr double k_sessions_believed = 5;  // the prior weighs as much as so many sessions
constexpr double k_sessions_remembered = 2000;
constexpr std::size_t k_buckets_that_grow = 30;  // five minutes

}  // namespace

DemandEstimator::DemandEstimator(TimePoint now, const DemandOptions& options)
    : options_(options), start_(now), arrivals_(now), lead_times_(options.create, options.wake) {}

void DemandEstimator::ended(TimePoint at, std::int64_t count, double seconds) {
  arrivals_.advance(at);
  const double n = static_cast<double>(count);
  const double kept =
      ended_count_ > k_sessions_remembered ? std::max(0.0, 1 - n / ended_count_) : 1;
  ended_count_ = ended_count_ * kept + n;
  ended_seconds_ = ended_seconds_ * kept + seconds;
}

double DemandEstimator::session_s() const {
  return (ended_seconds_ + k_sessions_believed * in_seconds(options_.session)) /
         (ended_count_ + k_sessions_believed);
}

void DemandEstimator::observe(std::span<const DemandBucket> buckets, TimePoint now) {
  for (const DemandBucket& bucket : buckets) {
    if (!seen_.empty() && bucket.start < seen_.front().start) continue;  // counted long ago
    auto before = std::find_if(seen_.rbegin(), seen_.rend(),
                               [&](const auto& seen) { return seen.start <= bucket.start; });
    DemandBucket counted{.start = bucket.start};
    if (before != seen_.rend() && before->start == bucket.start) counted = *before;
    count_difference(counted, bucket, std::min(now, bucket.start + k_demand_bucket));
    if (before != seen_.rend() && before->start == bucket.start) {
      *before = bucket;
    } else {
      seen_.insert(before.base(), bucket);
    }
  }
  // Gateways write into the newest buckets only.
  while (seen_.size() > k_buckets_that_grow) seen_.pop_front();
  arrivals_.advance(now);
}

void DemandEstimator::count_difference(const DemandBucket& counted, const DemandBucket& bucket,
                                       TimePoint at) {
  if (bucket.arrivals > counted.arrivals) arrived(at, bucket.arrivals - counted.arrivals);
  if (bucket.ended > counted.ended) {
    ended(at, bucket.ended - counted.ended, bucket.ended_seconds - counted.ended_seconds);
  }
}

void DemandEstimator::load(std::span<const DemandBucket> buckets, std::span<const Attempt> attempts,
                           TimePoint now) {
  if (!buckets.empty()) arrivals_.begin_at(std::min(now, buckets.front().start));
  observe(buckets, now);
  for (const Attempt& attempt : attempts) attempted(attempt);
  loaded_ = true;
}

Demand DemandEstimator::demand(TimePoint now) {
  arrivals_.advance(now);
  return {.fast_per_s = arrivals_.fast_per_s(),
          .slow_per_s = arrivals_.slow_per_s(),
          .rate_per_s = arrivals_.rate_per_s(),
          .day_per_s = arrivals_.day_per_s(),
          .last_minute = arrivals_.last_minute(),
          .session_s = session_s(),
          .dispersion = arrivals_.dispersion(),
          .ahead = arrivals_.ahead(),
          .minute_left_s = arrivals_.minute_left_s(),
          .history_ready = loaded_ || arrivals_.now() - start_ >= options_.stable_window,
          .create = lead_times_.create(),
          .wake = lead_times_.wake()};
}

}  // namespace navtalk
