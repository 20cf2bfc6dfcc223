// When a job will be finished, computed from the tenant's share of the budget and not from capacity
// that others happen to leave. Pure.
//
//   submitted ──── the work ahead is released ────► released ──── GPUs take what ────► begun ──── rendered ────► finished
//              (ahead - bucket) / assured share              was released before it         overhead + work / rate
//
// Where the lane has no GPU for it yet, a cold start passes meanwhile.
//
// What was released before it: what stands there now, its tenant's work ahead, and what others may have released meanwhile,
// without what the lane has rendered meanwhile.
//
// One GPU renders a job, so the job's own work takes as long as one GPU needs, however large the share
// is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/time.h"
#include "scheduler/jobs/lanes/lane_supply.h"
#include "scheduler/jobs/shares/batch_capacity.h"
#include "scheduler/jobs/shares/tenant_line.h"
#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

// Work that waits for a GPU or will, of all tenants, and how fast the lane renders it.
struct LaneBacklog {
  double speed = 0;          // video-minutes a minute; 0: not known, and nobody waits for a GPU
  double overhead = 0;       // minutes in which the lane does nothing else, for each job
  VideoMinutes released{};   // before the job, and not begun
  VideoMinutes rendering{};  // left of what GPUs have begun: half of it, in the mean
  // Of a job that is not released: what other tenants have queued, how much of it their buckets release at once, and the
  // budget, which releases the rest.
  VideoMinutes queued{};
  double buckets = 0, budget = 0;  // video-minutes; video-minutes a minute
  std::int64_t released_jobs = 0, rendering_jobs = 0, queued_jobs = 0;  // with that work
  LaneSupply supply{};
  Duration next{};  // until_next() of that
};

// Of a job of that tenant which all released work stands before. While released jobs wait, the lane has as many GPUs as work
// now: those that may come later are none to promise with. Without its supply.
LaneBacklog backlog_of(std::span<const TenantLine> lines, const TenantId& tenant,
                       const BatchCapacity& capacity);

struct FinishQuestion {
  VideoMinutes ahead{};         // the tenant's work that is released before it
  std::int64_t jobs_ahead = 0;  // the number of these jobs
  VideoMinutes work{};          // of the job itself, without its finished part
  double bucket = 0;            // the tenant's, in video-minutes
  double share = 0;             // assured_share(), in video-minutes a minute
  double rate = 0;        // video-minutes that a GPU renders in a minute, behind the first frame
  double overhead = 0;    // minutes before the job's first frame
  bool released = false;  // it was released: nothing is ahead
  LaneBacklog lane{};
  Duration start_wait{};  // before all that: a pause between tries
  double correction = 1;  // eta_correction() of the promises that are known
};

// What takes most of the time until a job is finished.
enum class FinishCause : std::uint8_t {
  rendering,
  work_ahead,
  start,      // of a GPU that the job waits for
  no_worker,  // none serves or starts
  pause,      // between tries
};
// Why a finish time moved later, as a phrase of a message.
std::string_view delay_text(FinishCause cause);

struct FinishEstimate {
  Duration expected{}, p90{};  // from now
  FinishCause cause = FinishCause::rendering;

  friend bool operator==(const FinishEstimate&, const FinishEstimate&) = default;
};

// Standard deviation over mean of the time that a job takes for its work.
inline constexpr double k_time_variation = 0.3;
// Between ticks, reports and claims.
inline constexpr Duration k_finish_buffer = std::chrono::seconds(30);

// What is left of a job that is rendered.
struct LeftToRender {
  VideoMinutes work{};
  double overhead = 0;  // minutes before more of it is rendered
};
// `left`: as of the last report, so long ago; of that `reported` is what the next report is expected to tell of. While that
// is late, the rest is delayed by as much as it is late: a job that stalls is expected later and later.
LeftToRender left_to_render(LeftToRender left, VideoMinutes reported, double rate, Duration passed);

// Until jobs have taught the rate, finish times go by a prior one, and are this much longer; a job has this before its first
// frame, in minutes.
inline constexpr double k_prior_correction = 2;
inline constexpr double k_prior_overhead = 10.0 / 60;

// p90 = start wait + cold start + ((release + lane) (1 + 1.28 cv / sqrt(n)) + rendering (1 + 1.28 cv)) correction + buffer.
// A cold start counts where no slot is free for the job behind those before it, and gpus_to_start() of batch_fleet.h will have GPUs
// for them: what is left of it after the release, unless the GPUs that are there would take the job earlier. Where no worker
// serves or starts, the time of a replacement counts likewise, also in a lane that has all it may have.
// nullopt when nothing is rendered at this rate or share.
std::optional<FinishEstimate> estimate_finish(const FinishQuestion& question);

}  // namespace navtalk
