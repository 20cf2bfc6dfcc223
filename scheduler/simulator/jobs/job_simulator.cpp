#include "scheduler/simulator/jobs/job_simulator.h"

#include <algorithm>
#include <array>

#include "scheduler/simulator/jobs/lane_world.h"
#include "scheduler/simulator/jobs/quantile.h"
#include "scheduler/simulator/jobs/unfairness.h"

namespace navtalk {
namespace {

constexpr std::array<std::string_view, k_job_policies> k_job_policy_names = {"shares", "fifo",
                                                                             "priority", "fair"};

struct WaitSample {
  std::vector<double> waits_s{}, finishes_s{};
  double work_min = 0;

  void add(const SimulatedJob& job) {
    waits_s.push_back(in_seconds(job.started_at - job.submitted_at));
    finishes_s.push_back(in_seconds(job.finished_at - job.submitted_at));
    work_min += job.work.count();
  }
  JobWaits summary() {
    JobWaits waits{.jobs = waits_s.size(), .work_min = work_min};
    for (const double wait : waits_s) waits.mean_wait_s += wait;
    if (!waits_s.empty()) waits.mean_wait_s /= static_cast<double>(waits_s.size());
    waits.p50_wait_s = quantile_of(waits_s, 0.5);
    waits.p99_wait_s = quantile_of(waits_s, 0.99);
    waits.p99_finish_s = quantile_of(finishes_s, 0.99);
    return waits;
  }
};

}  // namespace

std::string_view name(JobPolicy policy) {
  return k_job_policy_names.at(static_cast<std::size_t>(policy));
}

std::optional<JobPolicy> parse_job_policy(std::string_view text) {
  const auto* const found = std::find(k_job_policy_names.begin(), k_job_policy_names.end(), text);
  if (found == k_job_policy_names.end()) return std::nullopt;
  return static_cast<JobPolicy>(found - k_job_policy_names.begin());
}

JobSimulatorResult LaneWorld::result() const {
  JobSimulatorResult result{.jobs = jobs_.size(), .unfairness = unfairness(claims_)};
  WaitSample all, others;
  std::vector<WaitSample> tenants(lines_.size());
  std::vector<double> slack;
  double kept_first = 0, kept_last = 0, changed = 0, slipped = 0;
  for (const SimulatedJob& job : jobs_) {
    if (job.finished_at == TimePoint{}) continue;
    all.add(job);
    tenants[job.tenant].add(job);
    if (lines_[job.tenant].tenant.text != options_.flooder) others.add(job);
    if (!job.promised) continue;
    kept_first += job.finished_at <= job.first_promise ? 1 : 0;
    kept_last += job.finished_at <= job.promise ? 1 : 0;
    changed += job.changes > 0 ? 1 : 0;
    slipped += job.slipped ? 1 : 0;
    slack.push_back(in_seconds(job.finished_at - job.submitted_at) /
                    in_seconds(job.first_promise - job.submitted_at));
  }
  result.all = all.summary();
  result.others = others.summary();
  for (std::size_t i = 0; i < lines_.size(); ++i)
    result.tenants[lines_[i].tenant.text] = tenants[i].summary();
  if (!slack.empty()) {
    const auto promised = static_cast<double>(slack.size());
    result.kept_first = kept_first / promised;
    result.kept_last = kept_last / promised;
    result.changed = changed / promised;
    result.slipped = slipped / promised;
    result.slack = quantile_of(slack, 0.5);
  }
  if (jobs_.empty()) return result;
  const double submitted_s = in_seconds(jobs_.back().submitted_at - jobs_.front().submitted_at);
  result.span_h = in_seconds(last_job_at_ - jobs_.front().submitted_at) / 3600;
  result.most_lent = slots_.most_lent();
  result.gpu_hours = in_seconds(slots_until_last_job_) / 3600;
  result.starts = fleet_.starts();
  result.most_started = fleet_.most();
  for (const LaneSlots::Hour& hour : slots_.hours())
    result.hours.push_back({.live = hour.live_s / 3600, .lent = hour.lent_s / 3600});
  const double left_s = in_seconds(left_until_last_ - left_until_first_);
  if (submitted_s > 0 && left_s > 0) result.utilisation = busy_s_ / left_s;
  if (all_min_ > 0) result.lent_share = lent_min_ / all_min_;
  result.preempted = preempted_;
  result.taken_back = taken_back_;
  const double resumed_s = options_.overhead_s * static_cast<double>(preempted_ + taken_back_);
  if (all_s_ > 0) result.resume_share = resumed_s / all_s_;
  if (all_s_ > 0) result.repeated_share = repeated_s_ / all_s_;
  return result;
}

double unfairness_at_once(const JobTrace& trace, JobPolicy policy, JobSimulatorOptions options,
                          const std::stop_token& stop) {
  JobTrace at_once = trace;
  for (TracedJob& job : at_once) job.submitted = {};
  options.until_all_claimed = true;
  options.sessions.clear();
  return simulate(at_once, policy, options, stop).unfairness;
}

JobSimulatorResult simulate(const JobTrace& trace, JobPolicy policy,
                            const JobSimulatorOptions& options, const std::stop_token& stop) {
  LaneWorld lanes(trace, policy, options);
  JobSimulatorResult result = lanes.run(stop);
  if (options.sessions.empty()) return result;
  const JobTrace no_jobs;
  LaneWorld without_jobs(no_jobs, policy, options);
  without_jobs.run(stop);
  result.live = compare_waits(lanes.users().waits(), without_jobs.users().waits());
  return result;
}

}  // namespace navtalk
