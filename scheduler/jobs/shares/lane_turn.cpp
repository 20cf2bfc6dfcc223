#include "scheduler/jobs/shares/lane_turn.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/lanes/said_supply.h"
#include "scheduler/jobs/promises/promise_table.h"
#include "scheduler/jobs/promises/promise_turn.h"
#include "scheduler/jobs/release.h"
#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/division.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_events_at_once = 5000;
constexpr double k_longest_rendering_s = 1e9;  // a worker's word
constexpr Duration k_longest_turn = std::chrono::seconds(10);

// An end of a job, with the time that its last try took.
struct EndedJob {
  std::int64_t job = 0;
  JobState state = JobState::done;
  int claims = 0;
  VideoMinutes work{};
  TimePoint ended_at{};
  Duration took{};
  std::optional<Duration> rendering{};  // of that, as the worker told it
};

// The results of workers that do not tell it have no such member.
std::optional<Duration> rendering_of(const std::string& result) {
  const nlohmann::json facts = nlohmann::json::parse(result, nullptr, false);
  if (!facts.is_object()) return std::nullopt;
  const auto found = facts.find("rendering_s");
  if (found == facts.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  if (!(seconds > 0 && seconds < k_longest_rendering_s)) return std::nullopt;
  return from_seconds(seconds);
}

std::vector<EndedJob> ended_jobs(Transaction& t, std::int64_t after, std::int64_t to) {
  const auto rows = t.db.query(
      "SELECT j.number, e.to_state, (SELECT COUNT(*) FROM job_events c WHERE c.job = e.job AND "
      "c.event = 2), j.work, j.changed_at, e.at - COALESCE((SELECT MAX(c.at) FROM job_events c "
      "WHERE c.job = e.job AND c.event = 2), e.at), j.result FROM job_events e JOIN jobs j ON "
      "j.number = "
      "e.job WHERE e.number > $1 AND e.number <= $2 AND e.to_state >= 3 ORDER BY e.number",
      {after, to});
  std::vector<EndedJob> ended;
  while (rows->next()) {
    ended.push_back({.job = rows->integer(0),
                     .state = column::number<JobState>(*rows, 1),
                     .claims = column::number<int>(*rows, 2),
                     .work = VideoMinutes(column::duration(*rows, 3)),
                     .ended_at = column::time(*rows, 4),
                     .took = column::duration(*rows, 5),
                     .rendering = rendering_of(column::text(*rows, 6))});
  }
  return ended;
}

std::set<TenantId> submitters(Transaction& t, std::int64_t after, std::int64_t to) {
  const auto rows = t.db.query(
      "SELECT DISTINCT j.tenant FROM job_events e JOIN jobs j ON j.number = e.job WHERE e.number > "
      "$1 AND e.number <= $2 AND e.event IN (0, 11)",
      {after, to});
  std::set<TenantId> tenants;
  while (rows->next()) tenants.insert({column::text(*rows, 0)});
  return tenants;
}

std::int64_t newest_event(Transaction& t) {
  const auto rows = t.db.query("SELECT COALESCE(MAX(number), 0) FROM job_events", {});
  return rows->next() ? rows->integer(0) : 0;
}

void count_released(TenantLine& line, const JobTotal& released) {
  line.queued = std::max(line.queued - released.work, VideoMinutes{});
  line.queued_jobs -= released.jobs;
  line.released += released.work;
  line.released_jobs += released.jobs;
}

}  // namespace

VideoMinutes LaneTurn::take(double gpus, std::int64_t slots) {
  lane_ = read_lane(t_);
  learn();
  lane_.gpus = gpus;
  division_.lines = read_lines(t_);
  for (TenantLine& line : division_.lines) {
    const auto terms = terms_.find(line.tenant);
    if (terms != terms_.end()) line.terms = terms->second;
    if (submitted_.contains(line.tenant)) line.submitted_at = now_;
  }
  division_.capacity = capacity_of(lane_, division_.lines);
  division_.supply = read_lane_supply(t_);
  const BatchCapacity learnt = division_.capacity;
  division_.capacity = division_.expected_capacity();
  // Before a first turn, and while there was nothing to divide, no budget was low.
  const Duration passed = std::min(now_ - lane_.divided_at, k_longest_turn);
  division_.capacity = division_.capacity.remembering(lane_.recent_budget, passed);
  lane_.recent_budget = lane_.pace.rate > 0 ? division_.capacity.recent_budget : 0;
  lane_.divided_at = now_;
  navtalk::divide(division_.lines, division_.capacity, now_);
  VideoMinutes released;
  for (TenantLine& line : division_.lines) released += release(line);
  released += lend();
  released += release_early();
  lane_.headroom = flood_headroom(division_.lines, slots, now_);
  for (const TenantLine& line : division_.lines) write_line(t_, line);
  if (!(lane_.pace.rate > 0)) division_.capacity = learnt;
  division_.correction = promise_correction(t_);
  change_promises(t_, division_, cause_, lane_.seen_promise, now_);
  promise_rest(t_, division_, cause_, now_);
  write_lane(t_, lane_);
  return released;
}

void LaneTurn::learn() {
  const std::int64_t to = std::min(newest_event(t_), lane_.seen_event + k_events_at_once);
  for (const EndedJob& ended : ended_jobs(t_, lane_.seen_event, to)) {
    if (ended.state != JobState::done) {
      drop_promise(t_, ended.job);
      continue;
    }
    finish_promise(t_, ended.job, ended.ended_at);
    // What was finished under an earlier claim says nothing about the last one. Tries would not tell: one that
    // yields or finishes a segment does not count.
    if (ended.claims == 1) lane_.pace.learn(ended.work, ended.took, ended.rendering);
  }
  submitted_ = submitters(t_, lane_.seen_event, to);
  lane_.seen_event = to;
}

VideoMinutes LaneTurn::release(TenantLine& line) {
  if (line.queued_jobs == 0 || !line.bucket.may_release()) return {};
  const VideoMinutes budget(from_seconds(line.bucket.minutes * 60));
  const JobTotal released =
      release_jobs(t_, line.tenant, budget, releasable_jobs(line),
                   {cause_.who, "the tenant's share allows it"}, now_, &line.bucket);
  count_released(line, released);
  return released.work;
}

VideoMinutes LaneTurn::release_early() {
  VideoMinutes released;
  const std::vector<EarlyRelease> most = early_releases(division_.lines, division_.capacity);
  for (std::size_t i = 0; i < most.size(); ++i) {
    TenantLine& line = division_.lines[i];
    while (releases_early(line, most[i]) && startable_jobs(line) > 0) {
      const JobTotal one =
          release_jobs(t_, line.tenant, VideoMinutes(Duration(1)), 1,
                       {cause_.who, "the tenant has less than its part of the slots"}, now_,
                       pays_early(line, most[i]) ? &line.bucket : nullptr);
      if (one.jobs == 0) break;
      count_released(line, one);
      released += one.work;
    }
  }
  return released;
}

VideoMinutes LaneTurn::lend() {
  const VideoMinutes most = lendable(division_.lines, division_.capacity);
  VirtualTimes times;
  for (const TenantLine& line : division_.lines) {
    double& time = times[line.terms.plan];
    time = std::max(time, line.place.started);
  }
  VideoMinutes lent;
  std::vector<FairPlace> places;
  for (const TenantLine& line : division_.lines) places.push_back(line.place);
  while (lent < most) {
    std::vector<ClaimCandidate> candidates;
    for (std::size_t i = 0; i < division_.lines.size(); ++i) {
      const TenantLine& line = division_.lines[i];
      if (line.queued_jobs <= 0 || startable_jobs(line) == 0) continue;
      candidates.push_back({.order = static_cast<std::int64_t>(i),
                            .plan = line.terms.plan,
                            .weight = line.terms.weight,
                            .place = places[i],
                            .waits_since = now_});
    }
    const auto chosen = choose(candidates, times, now_);
    if (!chosen) break;
    const auto index = static_cast<std::size_t>(candidates[*chosen].order);
    TenantLine& line = division_.lines[index];
    const JobTotal released = release_jobs(t_, line.tenant, VideoMinutes(Duration(1)), 1,
                                           {cause_.who, "GPUs are idle"}, now_, nullptr);
    if (released.jobs == 0) break;
    places[index] = place_after(candidates[*chosen], released.work, times);
    count_released(line, released);
    lent += released.work;
  }
  return lent;
}

}  // namespace navtalk
