// LaneWorld: the promised finish times of its jobs.
#include <algorithm>
#include <span>

#include "scheduler/forecast/eta_correction.h"
#include "scheduler/jobs/promises/promise_rule.h"
#include "scheduler/simulator/jobs/lane_world.h"

namespace navtalk {
namespace {

constexpr Duration k_due_soon = std::chrono::seconds(5);
constexpr Duration k_all_again = std::chrono::minutes(10);
constexpr std::size_t k_outcomes_learnt_from = 200;

}  // namespace

// Once a turn, because thousands of jobs ask for it.
double LaneWorld::assured(std::size_t tenant) {
  auto& [share, at] = assured_[tenant];
  if (at != turned_at_ || at == TimePoint{}) {
    share = assured_share(lines_, tenant, capacity_);
    at = turned_at_;
  }
  return share;
}

LaneBacklog LaneWorld::backlog(const SimulatedJob& job) const {
  if (job.claimed_at != TimePoint{}) return {};
  LaneBacklog lane = backlog_of(lines_, lines_[job.tenant].tenant, capacity_);
  lane.supply = fleet_.supply(left_by_users());
  lane.next = until_next(lane.supply, now_);
  if (job.released_at == TimePoint{}) return lane;
  lane.released = {};
  lane.released_jobs = 0;
  for (const auto& waiting : released_) {
    for (const std::size_t other : waiting) {
      if (jobs_[other].released_at >= job.released_at) continue;
      lane.released += jobs_[other].work;
      ++lane.released_jobs;
    }
  }
  return lane;
}

std::optional<Duration> LaneWorld::estimated(const SimulatedJob& job, VideoMinutes ahead,
                                             std::size_t jobs_ahead) {
  const bool released = job.released_at != TimePoint{};
  VideoMinutes work = job.work - job.finished;
  double overhead = options_.overhead_s / 60;
  if (job.claimed_at != TimePoint{}) {
    const LeftToRender left = left_to_render({.work = work, .overhead = overhead}, work,
                                             capacity_.render_rate, now_ - job.claimed_at);
    work = left.work;
    overhead = left.overhead;
  }
  const auto finish = estimate_finish({.ahead = ahead,
                                       .jobs_ahead = static_cast<std::int64_t>(jobs_ahead),
                                       .work = work,
                                       .bucket = lines_[job.tenant].bucket.minutes,
                                       .share = released ? 0 : assured(job.tenant),
                                       .rate = capacity_.render_rate,
                                       .overhead = overhead,
                                       .released = released,
                                       .lane = backlog(job),
                                       .correction = correction_});
  return finish ? std::optional(finish->p90) : std::nullopt;
}

void LaneWorld::promise(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  const TenantLine& line = lines_[job.tenant];
  const auto p90 = estimated(job, line.queued - job.work, queued_[job.tenant].size() - 1);
  if (!p90) return;
  job.promised = true;
  job.first_promise = job.promise = now_ + *p90;
  job.promise_changed_at = now_;
  due_.emplace(job.promise, index);
}

// Those that are due soon in every turn, all every ten minutes.
void LaneWorld::change_promises() {
  std::vector<std::size_t> due;
  for (auto one = due_.begin(); one != due_.end() && one->first <= now_ + k_due_soon; ++one)
    due.push_back(one->second);
  for (const std::size_t index : due) {
    const SimulatedJob& job = jobs_[index];
    if (now_ > job.promise) jobs_[index].slipped = true;  // until now nobody had said so
    VideoMinutes ahead;
    std::size_t jobs_ahead = 0;
    if (job.released_at == TimePoint{}) {
      for (const std::size_t other : queued_[job.tenant]) {
        if (other == index) break;
        ahead += jobs_[other].work;
        ++jobs_ahead;
      }
    }
    change_promise(index, ahead, jobs_ahead);
  }
  if (now_ < all_looked_at_ + k_all_again) return;
  all_looked_at_ = now_;
  for (const auto& queue : queued_) {
    VideoMinutes ahead;
    std::size_t jobs_ahead = 0;
    for (const std::size_t index : queue) {
      change_promise(index, ahead, jobs_ahead++);
      ahead += jobs_[index].work;
    }
  }
}

void LaneWorld::change_promise(std::size_t index, VideoMinutes ahead, std::size_t jobs_ahead) {
  SimulatedJob& job = jobs_[index];
  if (!job.promised) return;
  const auto p90 = estimated(job, ahead, jobs_ahead);
  const auto changed = p90 ? changed_promise({.made_at = job.submitted_at,
                                              .promised_at = job.promise,
                                              .changes = job.changes,
                                              .changed_at = job.promise_changed_at},
                                             now_, now_ + *p90)
                           : std::nullopt;
  if (!changed) return;
  due_.erase({job.promise, index});
  job.promise = *changed;
  ++job.changes;
  job.promise_changed_at = now_;
  due_.emplace(job.promise, index);
}

// The outcome of its promise teaches.
void LaneWorld::finish_promise(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  if (!job.promised) return;
  due_.erase({job.promise, index});
  if (now_ > job.promise) job.slipped = true;
  known_.push_back({.made_at = job.submitted_at,
                    .promised = job.first_promise - job.submitted_at,
                    .actual = now_ - job.submitted_at});
  const std::size_t kept = std::min(known_.size(), k_outcomes_learnt_from);
  correction_ = eta_correction(std::span(known_).last(kept));
}

}  // namespace navtalk
