#include "scheduler/forecast/recurring.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace navtalk {
namespace {

constexpr std::size_t k_hour = 60;  // minutes
constexpr std::size_t k_least_hours = 6, k_recent_hours = 4;
// In standard errors of the mean: a burst of constant size has to come in five hours of 23, or four
// of six. Bursts with heavy tails have to come more often, because they also widen the error.
constexpr double k_significant = 2.5;
constexpr double k_least_users = 1;       // a GPU is not worth it for fewer
constexpr double k_least_variance = 0.2;  // of a minute; a pool that was never used has none

}  // namespace

RecurringArrivals recurring_arrivals(const MinuteRing& ring, std::size_t ahead) {
  NAVTALK_CHECK(ahead < k_hour);
  const std::size_t size = ring.counts.size(), hours = ring.closed / k_hour;
  NAVTALK_CHECK(ring.closed < size || size == 0);
  if (size == 0 || hours < k_least_hours) return {};
  double sum = 0, squares = 0, recent = 0;
  for (std::size_t hour = 1; hour <= hours; ++hour) {
    const std::size_t at = (ring.open + ahead + size - hour * k_hour) % size;
    const double above = ring.counts[at] - ring.mean;
    sum += above;
    squares += above * above;
    if (hour <= k_recent_hours) recent += above / k_recent_hours;
  }
  const auto n = static_cast<double>(hours);
  const double mean = sum / n;
  // Independent arrivals have at least the mean's variance.
  const double variance = std::max({squares / n - mean * mean, ring.mean, k_least_variance});
  if (mean < k_least_users || mean < k_significant * std::sqrt(variance / n)) return {};
  return {.users = std::max(mean, recent), .variance = variance};
}

}  // namespace navtalk
