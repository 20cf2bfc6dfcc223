#include "scheduler/jobs/promises/finish_estimate.h"

#include <algorithm>
#include <cmath>

namespace navtalk {
namespace {

constexpr double k_z90 = 1.2815515655446004;
constexpr double k_longest_min = 60.0 * 24 * 366 * 10;

// Bounded, because a duration overflows.
Duration minutes(double count) { return from_seconds(std::min(count, k_longest_min) * 60); }

}  // namespace

std::optional<FinishEstimate> estimate_finish(const FinishQuestion& question) {
  const double before = std::max(0.0, question.ahead.count() - question.bucket);
  const bool waits = !question.released && before > 0;
  if (question.rate <= 0 || (waits && question.share <= 0)) return std::nullopt;
  const double release_min = waits ? before / question.share : 0;
  const double render_min = question.work.count() / question.rate;
  const double n = static_cast<double>(std::max<std::int64_t>(question.jobs_ahead, 0)) + 1;
  const double late_min = release_min * (1 + k_z90 * k_time_variation / std::sqrt(n)) +
                          render_min * (1 + k_z90 * k_time_variation);
  return FinishEstimate{
      .expected = question.start_wait + minutes(release_min + render_min),
      .p90 = question.start_wait + minutes(late_min * question.correction) + k_finish_buffer};
}

}  // namespace navtalk
