#include "scheduler/simulator/jobs/live_waits.h"

#include "core/base/check.h"
#include "scheduler/pool/lending.h"
#include "scheduler/simulator/jobs/quantile.h"

namespace navtalk {

LiveWaits compare_waits(std::span<const Duration> with_jobs, std::span<const Duration> without) {
  NAVTALK_CHECK(with_jobs.size() == without.size());
  LiveWaits waits{.users = with_jobs.size()};
  std::vector<double> with_s, without_s, delays_s;
  std::size_t late = 0;
  for (std::size_t i = 0; i < with_jobs.size(); ++i) {
    with_s.push_back(in_seconds(with_jobs[i]));
    without_s.push_back(in_seconds(without[i]));
    const Duration delay = with_jobs[i] - without[i];
    if (delay > Duration{}) delays_s.push_back(in_seconds(delay));
    if (delay > k_lent_back) ++late;
  }
  waits.p99_wait_s = quantile_of(with_s, 0.99);
  waits.p99_wait_without_jobs_s = quantile_of(without_s, 0.99);
  waits.delayed = delays_s.size();
  waits.p50_delay_s = quantile_of(delays_s, 0.5);
  waits.p99_delay_s = quantile_of(delays_s, 0.99);
  waits.max_delay_s = quantile_of(delays_s, 1);
  if (waits.users > 0)
    waits.late_share = static_cast<double>(late) / static_cast<double>(waits.users);
  return waits;
}

}  // namespace navtalk
