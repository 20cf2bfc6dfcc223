#include "scheduler/simulator/jobs/lane_world.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/base/check.h"
#include "core/base/interrupt.h"
#include "scheduler/forecast/eta_correction.h"
#include "scheduler/jobs/promises/promise_rule.h"
#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

constexpr TimePoint k_simulated_from{std::chrono::hours(24 * 365 * 30)};
constexpr Duration k_turn = std::chrono::seconds(1);
constexpr Duration k_due_soon = std::chrono::seconds(5);
constexpr Duration k_all_again = std::chrono::minutes(10);
constexpr std::size_t k_outcomes_learnt_from = 200;
constexpr VideoMinutes k_segment(std::chrono::seconds(10));

SlotUse use_of(const TenantLine& line) {
  return {.terms = line.terms,
          .running = line.running_jobs,
          .waiting = line.released_jobs,
          .history = line.history};
}

}  // namespace

LaneWorld::LaneWorld(const JobTrace& trace, JobPolicy policy, const JobSimulatorOptions& options)
    : trace_(trace),
      policy_(policy),
      options_(options),
      capacity_{.gpus = static_cast<double>(options.gpus),
                .rate = options.rate,
                .utilisation = options.utilisation,
                .render_rate = options.rate,
                .overhead = options.overhead_s / 60},
      free_gpus_(options.gpus) {
  std::map<std::string, std::size_t> tenants;
  for (const TracedJob& job : trace) {
    const auto [found, is_new] = tenants.emplace(job.tenant, lines_.size());
    if (is_new) {
      lines_.push_back({.tenant = {job.tenant}, .terms = {.plan = job.plan, .weight = job.weight}});
    }
    jobs_.push_back({.tenant = found->second,
                     .submitted_at = k_simulated_from + job.submitted,
                     .work = job.work});
    all_min_ += job.work.count();
  }
  queued_.resize(lines_.size());
  released_.resize(lines_.size());
  assured_.resize(lines_.size());
}

JobSimulatorResult LaneWorld::run(const std::stop_token& stop) {
  std::size_t arrived = 0;
  TimePoint next_turn = k_simulated_from;
  while ((arrived < jobs_.size() || busy()) && !done_early()) {
    TimePoint next = TimePoint::max();
    if (arrived < jobs_.size()) next = jobs_[arrived].submitted_at;
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    if (gives_way_) next = std::min(next, gives_way_->first);
    const bool turns = policy_ == JobPolicy::shares;
    if (turns) {
      // Turns in which nothing could happen are passed over.
      if (!busy() && next_turn < next) next_turn = next;
      next = std::min(next, next_turn);
    }
    NAVTALK_CHECK(next != TimePoint::max());
    now_ = next;
    while (!ends_.empty() && ends_.top().at <= now_) {
      const std::size_t job = ends_.top().job;
      ends_.pop();
      finish(job);
      drop_old_ends();
    }
    if (gives_way_ && gives_way_->first <= now_ &&
        jobs_[gives_way_->second].claimed_at != TimePoint{})
      preempt(gives_way_->second);
    while (arrived < jobs_.size() && jobs_[arrived].submitted_at <= now_) submit(arrived++);
    if (turns && now_ >= next_turn) {
      turn();
      next_turn = now_ + k_turn;
      throw_if_stopped(stop);
    }
    start_jobs();
    if (turns && options_.preempts) plan_preemptions();
  }
  return result();
}

// A tenant's first claim is its place in the order.
bool LaneWorld::done_early() const {
  return options_.until_all_claimed &&
         std::all_of(lines_.begin(), lines_.end(),
                     [](const TenantLine& line) { return line.place.finished > 0; });
}

void LaneWorld::submit(std::size_t index) {
  const SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  ++waiting_;
  ++line.queued_jobs;
  line.queued += job.work;
  queued_[job.tenant].push_back(index);
  if (policy_ == JobPolicy::shares) {
    promise(index);
  } else {
    release(job.tenant, false);
  }
}

void LaneWorld::release(std::size_t tenant, bool lent) {
  const std::size_t index = queued_[tenant].front();
  queued_[tenant].pop_front();
  released_[tenant].push_back(index);
  SimulatedJob& job = jobs_[index];
  job.released_at = now_;
  job.lent = lent;
  TenantLine& line = lines_[tenant];
  --line.queued_jobs;
  ++line.released_jobs;
  line.queued = line.queued - job.work;
  line.released += job.work;
  if (lent) lent_min_ += job.work.count();
}

// As capacity_of() of a store's lane.
BatchCapacity LaneWorld::capacity_of_jobs() const {
  VideoMinutes work;
  std::int64_t jobs = 0;
  for (const TenantLine& line : lines_) {
    work += line.queued + line.released + line.running;
    jobs += line.queued_jobs + line.released_jobs + line.running_jobs;
  }
  BatchCapacity learnt = capacity_;
  learnt.rate = pace_.rate > 0 ? pace_.rate : options_.rate;
  learnt.measured = pace_.measured;
  return learnt.with_jobs(jobs, work);
}

// As LaneTurn does it in a store.
void LaneWorld::turn() {
  capacity_ = capacity_of_jobs().remembering(capacity_.recent_budget, now_ - turned_at_);
  turned_at_ = now_;
  divide(lines_, capacity_, now_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    while (!queued_[i].empty() && lines_[i].bucket.may_release() &&
           releasable_jobs(lines_[i]) > 0) {
      lines_[i].bucket.take(jobs_[queued_[i].front()].work);
      release(i, false);
    }
  }
  lend();
  if (options_.preempts) release_early();
  change_promises();
}

void LaneWorld::release_early() {
  const std::vector<EarlyRelease> most = early_releases(lines_, capacity_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    while (releases_early(lines_[i], most[i]) && releasable_jobs(lines_[i]) > 0) {
      if (pays_early(lines_[i], most[i])) lines_[i].bucket.take(jobs_[queued_[i].front()].work);
      release(i, false);
    }
  }
}

void LaneWorld::lend() {
  const VideoMinutes most = lendable(lines_, capacity_);
  VirtualTimes times = times_;
  std::vector<FairPlace> places;
  for (const TenantLine& line : lines_) places.push_back(line.place);
  for (VideoMinutes lent; lent < most;) {
    std::vector<ClaimCandidate> candidates;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (queued_[i].empty() || releasable_jobs(lines_[i]) == 0) continue;
      candidates.push_back({.order = static_cast<std::int64_t>(i),
                            .plan = lines_[i].terms.plan,
                            .weight = lines_[i].terms.weight,
                            .place = places[i],
                            .waits_since = now_});
    }
    const auto chosen = choose(candidates, times, now_);
    if (!chosen) break;
    const auto tenant = static_cast<std::size_t>(candidates[*chosen].order);
    const VideoMinutes work = jobs_[queued_[tenant].front()].work;
    places[tenant] = place_after(candidates[*chosen], work, times);
    release(tenant, true);
    lent += work;
  }
}

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
  Duration overhead = from_seconds(options_.overhead_s);
  if (job.claimed_at != TimePoint{}) {
    const Duration passed = now_ - job.claimed_at,
                   rendering = std::max(passed - overhead, Duration{});
    const VideoMinutes rendered(from_seconds(in_seconds(rendering) * capacity_.render_rate));
    work = std::max(work - rendered, VideoMinutes{});
    overhead = std::max(overhead - passed, Duration{});
  }
  const auto finish = estimate_finish({.ahead = ahead,
                                       .jobs_ahead = static_cast<std::int64_t>(jobs_ahead),
                                       .work = work,
                                       .bucket = lines_[job.tenant].bucket.minutes,
                                       .share = released ? 0 : assured(job.tenant),
                                       .rate = capacity_.render_rate,
                                       .overhead = in_seconds(overhead) / 60,
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
  const auto changed =
      p90 ? changed_promise(job.submitted_at, job.promise, now_, now_ + *p90) : std::nullopt;
  if (!changed) return;
  due_.erase({job.promise, index});
  job.promise = *changed;
  job.changed = true;
  due_.emplace(job.promise, index);
}

void LaneWorld::start_jobs() {
  while (free_gpus_ > 0) {
    const auto tenant = next_tenant();
    if (!tenant) return;
    const std::size_t job = released_[*tenant].front();
    released_[*tenant].pop_front();
    start(job);
  }
}

std::optional<std::size_t> LaneWorld::next_tenant() const {
  std::vector<ClaimCandidate> candidates;
  std::vector<std::size_t> tenants;
  std::vector<SlotUse> uses;
  std::int64_t slots = 1;
  for (const TenantLine& line : lines_) {
    uses.push_back(use_of(line));
    slots += line.running_jobs;
  }
  const std::vector<double> parts = slot_parts(uses, slots);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (released_[i].empty()) continue;
    const TenantLine& line = lines_[i];
    const std::size_t job = released_[i].front();
    const bool plans = policy_ == JobPolicy::shares;
    candidates.push_back({.order = static_cast<std::int64_t>(i),
                          .plan = plans ? line.terms.plan : 0,
                          .weight = line.terms.weight,
                          .place = line.place,
                          .waits_since = plans ? jobs_[job].released_at : now_,
                          .below = !plans || below_part(line.running_jobs, parts[i])});
    tenants.push_back(i);
  }
  if (candidates.empty()) return std::nullopt;
  if (policy_ == JobPolicy::shares || policy_ == JobPolicy::fair)
    return tenants[*choose(candidates, times_, now_)];
  const auto first = std::min_element(tenants.begin(), tenants.end(), [&](auto a, auto b) {
    const bool plans = policy_ == JobPolicy::priority;
    return std::pair(plans ? -lines_[a].terms.plan : 0, released_[a].front()) <
           std::pair(plans ? -lines_[b].terms.plan : 0, released_[b].front());
  });
  return *first;
}

void LaneWorld::start(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  const bool plans = policy_ == JobPolicy::shares;
  line.place = place_after(
      {.plan = plans ? line.terms.plan : 0, .weight = line.terms.weight, .place = line.place},
      job.work - job.finished, times_);
  --waiting_;
  --free_gpus_;
  --line.released_jobs;
  ++line.running_jobs;
  line.released = line.released - job.work;
  line.running += job.work;
  if (job.started_at == TimePoint{}) {
    job.started_at = now_;
    claims_.push_back(line.tenant.text);
  }
  job.claimed_at = now_;
  running_.insert(index);
  ends_.push({now_ + render_time(index), index, job.epoch});
}

void LaneWorld::leave(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  ++free_gpus_;
  --line.running_jobs;
  line.running = line.running - job.work;
  const TimePoint last = jobs_.back().submitted_at;
  all_s_ += in_seconds(now_ - job.claimed_at);
  busy_s_ +=
      in_seconds(std::max(std::min(now_, last) - std::min(job.claimed_at, last), Duration{}));
  job.claimed_at = {};
  running_.erase(index);
}

void LaneWorld::drop_old_ends() {
  while (!ends_.empty() && jobs_[ends_.top().job].epoch != ends_.top().epoch) ends_.pop();
}

void LaneWorld::finish(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  if (job.epoch == 0) pace_.learn(job.work, now_ - job.claimed_at, {});
  leave(index);
  job.finished_at = now_;
  if (!job.promised) return;
  due_.erase({job.promise, index});
  if (now_ > job.promise) job.slipped = true;
  known_.push_back({.made_at = job.submitted_at,
                    .promised = job.first_promise - job.submitted_at,
                    .actual = now_ - job.submitted_at});
  const std::size_t kept = std::min(known_.size(), k_outcomes_learnt_from);
  correction_ = eta_correction(std::span(known_).last(kept));
}

void LaneWorld::plan_preemptions() {
  gives_way_.reset();
  if (free_gpus_ > 0 || waiting_ == 0) return;
  std::vector<SlotTenant> tenants;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const TenantLine& line = lines_[i];
    tenants.push_back({.use = use_of(line), .place = line.place});
    if (released_[i].empty()) continue;
    const std::size_t job = released_[i].front();
    tenants.back().first = ClaimCandidate{.order = static_cast<std::int64_t>(i),
                                          .plan = line.terms.plan,
                                          .weight = line.terms.weight,
                                          .place = line.place,
                                          .waits_since = jobs_[job].released_at};
  }
  std::vector<SlotRun> runs;
  for (const std::size_t index : running_) {
    const SimulatedJob& job = jobs_[index];
    const int done = segments_done(index);
    const VideoMinutes placed = job.work - job.finished;
    runs.push_back({.job = static_cast<std::int64_t>(index),
                    .tenant = job.tenant,
                    .since = job.claimed_at,
                    .left = placed - VideoMinutes(done * k_segment.audio()),
                    .placed = placed});
  }
  for (const Preemption& one : preemptions(tenants, runs, times_, now_)) {
    for (const std::size_t run : one.runs) {
      const auto index = static_cast<std::size_t>(runs[run].job);
      const std::pair at(gives_way_at(index), index);
      if (at.first != TimePoint::max() && (!gives_way_ || at < *gives_way_)) gives_way_ = at;
    }
  }
}

int LaneWorld::segments_done(std::size_t index) const {
  const Duration passed = now_ - jobs_[index].claimed_at - from_seconds(options_.overhead_s);
  return std::max(static_cast<int>(passed / segment_time(index)), 0);
}

// Behind its next segment, which is not the last one.
TimePoint LaneWorld::gives_way_at(std::size_t index) const {
  const SimulatedJob& job = jobs_[index];
  const int segments = segments_done(index) + 1;
  if (job.work - job.finished <= VideoMinutes(segments * k_segment.audio()))
    return TimePoint::max();
  return job.claimed_at + from_seconds(options_.overhead_s) + segments * segment_time(index);
}

// As charges.h says: what is not rendered is given back.
void LaneWorld::preempt(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  const VideoMinutes done(segments_done(index) * k_segment.audio());
  job.finished += done;
  line.place.finished -= (job.work - job.finished).count() / line.terms.weight;
  leave(index);
  ++job.epoch;
  drop_old_ends();
  ++preempted_;
  ++waiting_;
  ++line.released_jobs;
  line.released += job.work;
  job.released_at = now_;
  auto& queue = released_[job.tenant];
  queue.insert(std::lower_bound(queue.begin(), queue.end(), index), index);
}

// The same job takes the same time under every policy.
double LaneWorld::minutes_each(std::size_t index) const {
  const SimulatedJob& job = jobs_[index];
  const auto number = static_cast<std::uint64_t>(in_seconds(job.submitted_at.time_since_epoch()));
  const double z = normal_quantile(uniform(options_.seed, number, index));
  const double sigma = options_.rate_sigma;
  return std::exp(sigma * z - sigma * sigma / 2) / options_.rate;
}

Duration LaneWorld::segment_time(std::size_t index) const {
  return from_seconds(k_segment.count() * minutes_each(index) * 60);
}

Duration LaneWorld::render_time(std::size_t index) const {
  const VideoMinutes left = jobs_[index].work - jobs_[index].finished;
  return from_seconds(options_.overhead_s + left.count() * minutes_each(index) * 60);
}

}  // namespace navtalk
