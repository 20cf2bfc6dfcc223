// The lanes on a virtual clock: jobs of a trace, GPUs that render them, a policy that orders them, and users whose
// sessions have the slots first. The policy `shares` runs the shipped division, buckets, order of claims and promises;
// slots are lent and taken back by the shipped rules under each policy. Event by event, seeded, no threads: the same
// input gives the same result.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "scheduler/simulator/jobs/job_trace.h"
#include "scheduler/simulator/jobs/live_waits.h"
#include "scheduler/simulator/trace/trace.h"

namespace navtalk {

enum class JobPolicy : std::uint8_t {
  shares,    // the shipped one
  fifo,      // in the order of submission
  priority,  // higher plans first, then in the order of submission
  fair,      // plain fair queueing: tenants in turn by work and weight, without plans and budgets
};
inline constexpr int k_job_policies = 4;
std::string_view name(JobPolicy policy);
std::optional<JobPolicy> parse_job_policy(std::string_view text);

struct JobSimulatorOptions {
  std::uint64_t seed = 1;
  int gpus = 16;  // that are always there
  // That the lane may start besides, as its shipped rule wants them; their cold starts are lognormal, with this median.
  int max_gpus = 0;
  double lead_s = 90, lead_sigma = 0.4;
  double rate = 1;                 // video-minutes that a GPU renders in a minute, in the mean
  double rate_sigma = 0.15;        // of a job's time, lognormal
  double overhead_s = 2;           // of each job, and again when it goes on after it gave way
  bool preempts = true;            // jobs of the shipped policy give way, and are released early
  bool headroom = true;            // and, if they do, slots are kept free from a flood
  double utilisation = 0.8;        // on which the shipped division counts
  std::string flooder{};           // the tenant that JobSimulatorResult::others leaves out
  bool until_all_claimed = false;  // ends when every tenant has had a job
  Trace sessions{};                // of users, who come before jobs; times as those of the jobs
};

// Slots that a lane had in an hour, in the mean.
struct LaneHour {
  double live = 0, lent = 0;
};

// Of one tenant, in seconds.
struct JobWaits {
  std::size_t jobs = 0;
  double work_min = 0;
  double mean_wait_s = 0, p50_wait_s = 0, p99_wait_s = 0;  // from submission to the start
  double p99_finish_s = 0;                                 // to the end
};

struct JobSimulatorResult {
  std::size_t jobs = 0;
  double span_h = 0;          // until the last job was finished
  double utilisation = 0;     // of what users left of the GPUs, until the last submission
  double unfairness = 0;      // of the order of all claims, see unfairness.h
  double lent_share = 0;      // of the work: released beyond the shares
  std::size_t preempted = 0;  // times that a job gave way to another tenant's
  // Of the time that jobs had GPUs: to go on after they gave way or a user took the slot, and segments that a user cut.
  double resume_share = 0, repeated_share = 0;
  double gpu_hours = 0;        // until the last job was done
  int most_started = 0;        // GPUs at once that the lane had started
  int starts = 0;              // of them in all
  std::size_t taken_back = 0;  // slots, by users
  int most_lent = 0;           // slots at once
  std::vector<LaneHour> hours{};
  LiveWaits live{};
  JobWaits all{}, others{};
  std::map<std::string, JobWaits> tenants{};
  // Of the shipped policy's promises: 0 without one.
  double kept_first = 0, kept_last = 0;  // shares that held what was said at submission, and last
  double changed = 0;                    // share that changed
  double slipped = 0;  // share that was missed without an announcement before; must be 0
  double slack = 0;    // median of actual over first promised time
};

// Error{interrupted}, Error{terminated} on a stop request.
JobSimulatorResult simulate(const JobTrace& trace, JobPolicy policy,
                            const JobSimulatorOptions& options, const std::stop_token& stop = {});

// The unfairness of the order in which the trace's jobs are claimed when all are submitted at once, as
// Temporal's test does it.
double unfairness_at_once(const JobTrace& trace, JobPolicy policy, JobSimulatorOptions options,
                          const std::stop_token& stop = {});

}  // namespace navtalk
