#include "scheduler/jobs/promises/finish_estimate.h"

#include <algorithm>
#include <cmath>

namespace navtalk {
namespace {

constexpr double k_z90 = 1.2815515655446004;
constexpr double k_longest_min = 60.0 * 24 * 366 * 10;

// Bounded, because a duration overflows.
Duration minutes(double count) { return from_seconds(std::min(count, k_longest_min) * 60); }

// How long the job waits for a GPU after its release.
double lane_min(const FinishQuestion& question, double release_min) {
  const LaneBacklog& lane = question.lane;
  if (lane.speed <= 0) return 0;
  const auto jobs = [](std::int64_t count) { return static_cast<double>(count); };
  double work = lane.released.count() + lane.rendering.count();
  double before = jobs(lane.released_jobs) + jobs(lane.rendering_jobs) / 2;
  if (!question.released) {
    const double queued = lane.queued.count();
    const double others = std::min(queued, lane.buckets + lane.budget * release_min);
    work += question.ahead.count() + others;
    before += jobs(question.jobs_ahead);
    if (queued > 0) before += jobs(lane.queued_jobs) * others / queued;
  }
  return std::max(0.0, work / lane.speed + before * lane.overhead - release_min);
}

}  // namespace

LaneBacklog backlog_of(std::span<const TenantLine> lines, const TenantId& tenant,
                       const BatchCapacity& capacity) {
  LaneBacklog lane{.budget = capacity.budget()};
  for (const TenantLine& line : lines) {
    lane.released_jobs += line.released_jobs;
    lane.rendering_jobs += line.running_jobs;
    lane.released += line.released;
    lane.rendering += VideoMinutes(line.running.audio() / 2);
    if (line.tenant == tenant) continue;
    lane.queued += line.queued;
    lane.queued_jobs += line.queued_jobs;
    lane.buckets += std::clamp(line.bucket.minutes, 0.0, line.queued.count());
  }
  const double most = std::max(1.0, capacity.gpus);
  const double gpus = lane.released_jobs > 0
                          ? std::clamp(static_cast<double>(lane.rendering_jobs), 1.0, most)
                          : most;
  lane.speed = gpus * capacity.rate_of_frames();
  lane.overhead = capacity.overhead / gpus;
  return lane;
}

std::optional<FinishEstimate> estimate_finish(const FinishQuestion& question) {
  const double before = std::max(0.0, question.ahead.count() - question.bucket);
  const bool waits = !question.released && before > 0;
  if (question.rate <= 0 || (waits && question.share <= 0)) return std::nullopt;
  const double release_min = waits ? before / question.share : 0;
  const double start_min = release_min + lane_min(question, release_min);
  const double render_min = question.overhead + question.work.count() / question.rate;
  const double n = static_cast<double>(std::max<std::int64_t>(question.jobs_ahead, 0)) + 1;
  const double late_min = start_min * (1 + k_z90 * k_time_variation / std::sqrt(n)) +
                          render_min * (1 + k_z90 * k_time_variation);
  return FinishEstimate{
      .expected = question.start_wait + minutes(start_min + render_min),
      .p90 = question.start_wait + minutes(late_min * question.correction) + k_finish_buffer};
}

}  // namespace navtalk
