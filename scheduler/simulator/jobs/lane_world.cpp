#include "scheduler/simulator/jobs/lane_world.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/check.h"
#include "core/base/interrupt.h"
#include "scheduler/jobs/lanes/lent_slots.h"
#include "scheduler/pool/lending.h"
#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

constexpr Duration k_turn = std::chrono::seconds(1);
constexpr std::size_t k_steps_between_looks = 1024;  // for a stop request

}  // namespace

LaneWorld::LaneWorld(const JobTrace& trace, JobPolicy policy, const JobSimulatorOptions& options)
    : trace_(trace),
      policy_(policy),
      options_(options),
      capacity_{.gpus = static_cast<double>(options.gpus + options.max_gpus),
                .rate = options.rate,
                .utilisation = options.utilisation,
                .render_rate = options.rate,
                .overhead = options.overhead_s / 60},
      slots_(options.gpus, k_simulated_from),
      fleet_({.seed = options.seed,
              .most = options.max_gpus,
              .lead_s = options.lead_s,
              .lead_sigma = options.lead_sigma},
             k_simulated_from),
      users_(options.sessions, k_simulated_from) {
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

// A turn apart, which is passed over while nothing could happen in it.
TimePoint LaneWorld::next_event(std::size_t arrived) const {
  TimePoint next = users_.next();
  if (arrived < jobs_.size()) next = std::min(next, jobs_[arrived].submitted_at);
  if (!ends_.empty()) next = std::min(next, ends_.top().at);
  if (!yields_.empty()) next = std::min(next, yields_.top().at);
  next = std::min(next, fleet_.next());
  if (gives_way_) next = std::min(next, gives_way_->first);
  return looks_at_users_ ? std::min(next, *looks_at_users_) : next;
}

JobSimulatorResult LaneWorld::run(const std::stop_token& stop) {
  std::size_t arrived = 0;
  TimePoint next_turn = k_simulated_from;
  for (std::size_t step = 0; (arrived < jobs_.size() || busy() || !users_.over()) && !done_early();
       ++step) {
    if (step % k_steps_between_looks == 0) throw_if_stopped(stop);
    TimePoint next = next_event(arrived);
    const bool turns = policy_ == JobPolicy::shares, grows = options_.max_gpus > 0;
    if (turns || grows) {
      if (!busy() && !fleet_.any() && next_turn < next) next_turn = next;
      next = std::min(next, next_turn);
    }
    NAVTALK_CHECK(next != TimePoint::max());
    advance(next);
    end_jobs();
    slots_.add(fleet_.ready(now_));
    serve_users();
    while (arrived < jobs_.size() && jobs_[arrived].submitted_at <= now_) submit(arrived++);
    if ((turns || grows) && now_ >= next_turn) {
      if (turns) turn();
      if (grows) turn_fleet();
      next_turn = now_ + k_turn;
    }
    start_jobs();
    if (turns && options_.preempts) plan_preemptions();
  }
  return result();
}

void LaneWorld::advance(TimePoint to) {
  slots_.advance(to);
  now_ = to;
  if (jobs_.empty()) return;
  if (now_ <= jobs_.front().submitted_at) left_until_first_ = slots_.left();
  if (now_ <= jobs_.back().submitted_at) left_until_last_ = slots_.left();
}

void LaneWorld::end_jobs() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const std::size_t job = ends_.top().job;
    ends_.pop();
    finish(job);
    drop_old_ends();
  }
  take_back();
  if (gives_way_ && gives_way_->first <= now_ &&
      jobs_[gives_way_->second].claimed_at != TimePoint{})
    preempt(gives_way_->second);
}

// Before jobs are submitted and claimed.
void LaneWorld::serve_users() {
  slots_.give_back(Lane::live, users_.leave(now_));
  users_.arrive(now_);
  slots_.take(Lane::live, users_.serve(slots_.free(), now_));
  if (users_.waiting() == 0) {
    looks_at_users_.reset();
  } else if (!looks_at_users_) {
    looks_at_users_ = now_ + k_lane_round;
  } else if (*looks_at_users_ <= now_) {
    yield_to_users();
    looks_at_users_ = now_ + k_lane_round;
  }
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
  line.submitted_at = now_;
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
  const LaneWork work = work_of(lines_);
  BatchCapacity learnt = capacity_;
  learnt.rate = pace_.rate > 0 ? pace_.rate : options_.rate;
  learnt.measured = pace_.measured;
  learnt.lasting_rate = 0;
  return learnt.with_jobs(work.jobs, work.work);
}

// As BatchLane does it.
void LaneWorld::turn_fleet() {
  const LaneFree slots{.free = slots_.free(), .left = left_by_users()};
  slots_.remove(fleet_.turn(work_of(lines_), capacity_.rate, slots, now_));
}

// As LaneTurn does it in a store.
void LaneWorld::turn() {
  const int most = options_.gpus + options_.max_gpus;
  capacity_.gpus = slots_counted_on(most, most, slots_.live());
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
  if (options_.preempts && options_.headroom)
    headroom_ = flood_headroom(lines_, slots_.free() + slots_.lent(), now_);
  change_promises();
}

void LaneWorld::release_early() {
  const std::vector<EarlyRelease> most = early_releases(lines_, capacity_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    while (releases_early(lines_[i], most[i]) && startable_jobs(lines_[i]) > 0) {
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
      if (queued_[i].empty() || startable_jobs(lines_[i]) == 0) continue;
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

void LaneWorld::start_jobs() {
  while (slots_.free() > 0) {
    NAVTALK_CHECK(may_lend(users_.waiting()));  // users were served before
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
  std::int64_t running = 0;
  for (const TenantLine& line : lines_) {
    uses.push_back(use_of(line));
    running += line.running_jobs;
  }
  const std::vector<double> parts = slot_parts(uses, running + 1);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (released_[i].empty()) continue;
    const TenantLine& line = lines_[i];
    if (headroom_.holds_back(line.tenant, running, now_)) continue;
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
  slots_.take(Lane::batch);
  --line.released_jobs;
  ++line.running_jobs;
  line.released = line.released - job.work;
  line.running += job.work;
  if (job.started_at == TimePoint{}) {
    job.started_at = now_;
    claims_.push_back(line.tenant.text);
  }
  job.claimed_at = now_;
  job.claim = claimed_++;
  running_.insert(index);
  ends_.push({now_ + render_time(index), index, job.epoch});
}

void LaneWorld::leave(std::size_t index) {
  SimulatedJob& job = jobs_[index];
  TenantLine& line = lines_[job.tenant];
  slots_.give_back(Lane::batch);
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
  job.finished_at = last_job_at_ = now_;
  slots_until_last_job_ = slots_.time();
  finish_promise(index);
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
