#include "scheduler/jobs/promises/finish_estimate.h"

#include <algorithm>
#include <cmath>

#include "scheduler/jobs/lanes/batch_fleet.h"

namespace navtalk {
namespace {

constexpr double k_z90 = 1.2815515655446004;
constexpr double k_longest_min = 60.0 * 24 * 366 * 10;

// Bounded, because a duration overflows.
Duration minutes(double count) { return from_seconds(std::min(count, k_longest_min) * 60); }

// What stands before the job when it is released.
struct Before {
  double work = 0;  // video-minutes
  double jobs = 0;
  double overheads = 0;  // of jobs: half of those of the jobs that render are over
};

Before before_of(const FinishQuestion& question, double release_min) {
  const LaneBacklog& lane = question.lane;
  const auto jobs = [](std::int64_t count) { return static_cast<double>(count); };
  Before before{.work = lane.released.count() + lane.rendering.count(),
                .jobs = jobs(lane.released_jobs) + jobs(lane.rendering_jobs)};
  if (!question.released) {
    const double queued = lane.queued.count();
    const double others = std::min(queued, lane.buckets + lane.budget * release_min);
    before.work += question.ahead.count() + others;
    before.jobs += jobs(question.jobs_ahead);
    if (queued > 0) before.jobs += jobs(lane.queued_jobs) * others / queued;
  }
  before.overheads = before.jobs - jobs(lane.rendering_jobs) / 2;
  return before;
}

// How long the job waits for a GPU after its release, in minutes.
struct LaneWait {
  double cold = 0;  // for one to start
  double work = 0;  // for the work before it
};

// The GPUs that will be there when those that the work needs have started.
int grown_gpus(const LaneSupply& supply, double work, double rate) {
  const int gpus = std::max(supply.ready + supply.starting, 1);
  return gpus + gpus_to_start({.queued = VideoMinutes(from_seconds(work * 60)),
                               .gpus = gpus,
                               .most_gpus = supply.most,
                               .rate = rate,
                               .cold_start = supply.cold_start});
}

LaneWait lane_wait(const FinishQuestion& question, double release_min) {
  const LaneBacklog& lane = question.lane;
  if (lane.speed <= 0) return {};
  const Before before = before_of(question, release_min);
  const double takes = before.work / lane.speed + before.overheads * lane.overhead;
  const LaneWait usual{.work = std::max(0.0, takes - release_min)};
  const LaneSupply& supply = lane.supply;
  if (before.jobs + 1 <= supply.ready) return usual;
  if (!supply.grows() && supply.replacement == Duration{}) return usual;
  const double gpus_of_speed = lane.speed / question.rate;
  const auto takes_on = [&](int gpus) { return takes * gpus_of_speed / gpus; };
  const double on_ready =
      supply.ready > 0 ? std::max(usual.work, takes_on(supply.ready) - release_min) : k_longest_min;
  const int grown = grown_gpus(supply, before.work + question.work.count(), question.rate);
  if (grown <= supply.ready) return {.work = on_ready};
  const double next = in_seconds(lane.next) / 60;
  const double cold = std::max(0.0, next - release_min);
  const double later = std::max(usual.work, takes_on(grown) - std::max(0.0, release_min - next));
  return cold + later < on_ready ? LaneWait{cold, later} : LaneWait{.work = on_ready};
}

FinishCause cause_of(const FinishQuestion& question, const LaneWait& lane, double start_min,
                     double render_min) {
  const double pause_min = in_seconds(question.start_wait) / 60;
  const double longest = std::max({pause_min, lane.cold, start_min, render_min});
  if (longest <= render_min) return FinishCause::rendering;
  if (longest <= start_min) return FinishCause::work_ahead;
  if (longest <= pause_min) return FinishCause::pause;
  return question.lane.supply.replacement > Duration{} ? FinishCause::no_worker
                                                       : FinishCause::start;
}

}  // namespace

std::string_view delay_text(FinishCause cause) {
  switch (cause) {
    case FinishCause::rendering:
      return "its rendering takes longer than expected";
    case FinishCause::work_ahead:
      return "the work before it takes longer than expected";
    case FinishCause::start:
      return "a GPU has to start first";
    case FinishCause::no_worker:
      return "no worker serves";
    case FinishCause::pause:
      return "it waits for its next try";
  }
  return "";
}

LeftToRender left_to_render(LeftToRender left, VideoMinutes reported, double rate,
                            Duration passed) {
  const double passed_min = std::max(0.0, in_seconds(passed) / 60);
  const VideoMinutes next = std::min(reported, left.work);
  if (rate <= 0) return left;
  const double expected_min = left.overhead + next.count() / rate;
  if (passed_min > expected_min)
    return {.work = left.work - next, .overhead = passed_min - expected_min};
  const double rendering = std::max(0.0, passed_min - left.overhead);
  return {.work = std::max(left.work - VideoMinutes(from_seconds(60 * rendering * rate)),
                           VideoMinutes{}),
          .overhead = std::max(0.0, left.overhead - passed_min)};
}

LaneBacklog backlog_of(std::span<const TenantLine> lines, const TenantId& tenant,
                       const BatchCapacity& capacity) {
  LaneBacklog lane{.budget = capacity.budget()};
  for (const TenantLine& line : lines) {
    // What the tenant's largest number of running jobs holds back fills no GPU, and stands before nobody else.
    const bool own = line.tenant == tenant;
    lane.released_jobs += own ? line.released_jobs : claimable_jobs(line);
    lane.rendering_jobs += line.running_jobs;
    lane.released += own ? line.released : claimable_work(line);
    lane.rendering += VideoMinutes(line.running.audio() / 2);
    if (own) continue;
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
  const LaneWait lane = lane_wait(question, release_min);
  const Duration start_wait = question.start_wait + minutes(lane.cold);
  const double start_min = release_min + lane.work;
  const double render_min = question.overhead + question.work.count() / question.rate;
  const double n = static_cast<double>(std::max<std::int64_t>(question.jobs_ahead, 0)) + 1;
  const double late_min = start_min * (1 + k_z90 * k_time_variation / std::sqrt(n)) +
                          render_min * (1 + k_z90 * k_time_variation);
  return FinishEstimate{
      .expected = start_wait + minutes(start_min + render_min),
      .p90 = start_wait + minutes(late_min * question.correction) + k_finish_buffer,
      .cause = cause_of(question, lane, start_min, render_min)};
}

}  // namespace navtalk
