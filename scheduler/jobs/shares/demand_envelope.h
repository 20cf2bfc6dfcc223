// A tenant's demand, smoothed as Kubernetes' API Priority and Fairness does it (KEP-1040): in each period
// the mean of the samples plus their standard deviation. A higher value counts at once and a lower one
// gradually, so that a tenant who pauses for a moment keeps its share. Pure.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/time.h"

namespace navtalk {

struct DemandEnvelope {
  static constexpr Duration k_period = std::chrono::seconds(10);
  static constexpr double k_keep = 0.977;  // of the old value in a period: half-life five minutes

  double smoothed = 0;  // after the last whole period
  TimePoint period_at{};
  // Of the current period:
  int samples = 0;
  double sum = 0, squares = 0;

  // In video-minutes a minute.
  void observe(double demand, TimePoint now) {
    if (samples > 0 && (now - period_at >= k_period || now < period_at)) close();
    if (samples == 0) period_at = now;
    ++samples;
    sum += demand;
    squares += demand * demand;
  }
  double value() const { return std::max(smoothed, of_period()); }

  friend bool operator==(const DemandEnvelope&, const DemandEnvelope&) = default;

 private:
  double of_period() const {
    if (samples == 0) return 0;
    const double mean = sum / samples;
    return mean + std::sqrt(std::max(0.0, squares / samples - mean * mean));
  }
  void close() {
    const double envelope = of_period();
    smoothed = std::max(envelope, k_keep * smoothed + (1 - k_keep) * envelope);
    samples = 0;
    sum = squares = 0;
  }
};

}  // namespace navtalk
