// When a job will be finished, computed from the tenant's share of the budget and not from capacity
// that others happen to leave. Pure.
//
//   submitted ──── the work ahead is released ────► a GPU takes it ──── rendered ────► finished
//              (ahead - bucket) / assured share       start wait        work / rate
//
// One GPU renders a job, so the job's own work takes as long as one GPU needs, however large the share
// is.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct FinishQuestion {
  VideoMinutes ahead{};         // the tenant's work that is released before it
  std::int64_t jobs_ahead = 0;  // the number of these jobs
  VideoMinutes work{};          // of the job itself, without its finished part
  double bucket = 0;            // the tenant's, in video-minutes
  double share = 0;             // assured_share(), in video-minutes a minute
  double rate = 0;              // video-minutes that a GPU renders in a minute
  bool released = false;        // it was released: nothing is ahead
  Duration
      start_wait{};  // until a GPU takes a released job; the cold start for a lane without GPUs
  double correction = 1;  // eta_correction() of the promises that are known
};

struct FinishEstimate {
  Duration expected{}, p90{};  // from now

  friend bool operator==(const FinishEstimate&, const FinishEstimate&) = default;
};

// Standard deviation over mean of the time that a job takes for its work.
inline constexpr double k_time_variation = 0.3;
// Between ticks, reports and claims.
inline constexpr Duration k_finish_buffer = std::chrono::seconds(30);

// p90 = start wait + (release (1 + 1.28 cv / sqrt(n)) + rendering (1 + 1.28 cv)) correction + buffer.
// nullopt when nothing is rendered at this rate or share.
std::optional<FinishEstimate> estimate_finish(const FinishQuestion& question);

}  // namespace navtalk
