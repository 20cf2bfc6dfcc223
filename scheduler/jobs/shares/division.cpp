#include "scheduler/jobs/shares/division.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scheduler/jobs/shares/fair_shares.h"
#include "scheduler/jobs/shares/slot_parts.h"

namespace navtalk {
namespace {

constexpr std::size_t k_no_bound = 1'000'000'000;

double bounded(double demand, const TenantTerms& terms) {
  return terms.max_rate > 0 ? std::min(demand, terms.max_rate) : demand;
}

std::vector<ShareClaim> claims_of(std::span<const TenantLine> lines) {
  std::vector<ShareClaim> claims;
  claims.reserve(lines.size());
  for (const TenantLine& line : lines) {
    claims.push_back({.plan = line.terms.plan,
                      .weight = line.terms.weight,
                      .demand = bounded(line.demand.value(), line.terms)});
  }
  return claims;
}

std::size_t jobs_left(const TenantLine& line, std::int64_t ahead) {
  if (line.terms.max_running == 0) return k_no_bound;
  const std::int64_t left = line.terms.max_running + ahead - line.released_jobs - line.running_jobs;
  return static_cast<std::size_t>(std::max<std::int64_t>(left, 0));
}

// Ten minutes of the tenant's part, if the budget were divided evenly between those that use it.
std::vector<double> bursts(std::span<const TenantLine> lines, double budget) {
  constexpr double k_used = 0.001;  // video-minutes a minute
  double weights = 0;
  const auto uses = [](const TenantLine& line) {
    return line.queued_jobs > 0 || line.demand.value() > k_used;
  };
  for (const TenantLine& line : lines) weights += uses(line) ? line.terms.weight : 0;
  std::vector<double> most;
  for (const TenantLine& line : lines) {
    const double all = weights + (uses(line) ? 0 : line.terms.weight);
    const double part = bounded(budget * line.terms.weight / all, line.terms);
    most.push_back(part * in_seconds(WorkBucket::k_burst) / 60);
  }
  return most;
}

}  // namespace

void divide(std::span<TenantLine> lines, const BatchCapacity& capacity, TimePoint now) {
  const std::vector<double> most = bursts(lines, capacity.lasting_budget());
  const std::vector<double> kept =
      bursts(lines, std::max(capacity.lasting_budget(), capacity.recent_budget));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    TenantLine& line = lines[i];
    const double asked = line.queued.count() + std::max(0.0, most[i] - line.bucket.minutes);
    line.demand.observe(asked / VideoMinutes(k_demand_horizon).count(), now);
    if (line.bucket.at == TimePoint{}) continue;
    line.history.observe(line.running_jobs, now - line.bucket.at);
    line.waits.observe(line.queued_jobs + line.released_jobs, now - line.bucket.at);
  }
  const std::vector<double> shares = fair_shares(capacity.budget(), claims_of(lines));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].share = shares[i];
    const double full = std::max(most[i], shares[i]);
    lines[i].bucket.refill(shares[i], full, std::max(kept[i], full), now);
  }
}

double assured_share(std::span<const TenantLine> lines, std::size_t index,
                     const BatchCapacity& capacity) {
  std::vector<ShareClaim> claims = claims_of(lines);
  claims[index].demand = bounded(std::numeric_limits<double>::infinity(), lines[index].terms);
  return fair_shares(capacity.budget(), claims)[index];
}

std::vector<EarlyRelease> early_releases(std::span<const TenantLine> lines,
                                         const BatchCapacity& capacity) {
  std::vector<SlotUse> uses;
  uses.reserve(lines.size());
  for (const TenantLine& line : lines) {
    uses.push_back({.terms = line.terms,
                    .running = line.running_jobs,
                    .waiting = line.queued_jobs + line.released_jobs,
                    .history = line.history});
  }
  const auto slots = static_cast<std::int64_t>(std::floor(capacity.gpus));
  const std::vector<double> parts = slot_parts(uses, slots);
  const std::vector<double> full = bursts(lines, capacity.lasting_budget());
  std::vector<EarlyRelease> most;
  for (std::size_t i = 0; i < lines.size(); ++i)
    most.push_back({.jobs = parts[i], .debt = full[i]});
  return most;
}

bool releases_early(const TenantLine& line, const EarlyRelease& most) {
  const bool in_debt = !pays_early(line, most);
  return line.queued_jobs > 0 && !(in_debt && line.terms.max_rate > 0) &&
         static_cast<double>(line.running_jobs + line.released_jobs) < most.jobs;
}

bool pays_early(const TenantLine& line, const EarlyRelease& most) {
  return line.bucket.minutes > -most.debt;
}

std::size_t releasable_jobs(const TenantLine& line) { return jobs_left(line, k_released_ahead); }

std::size_t startable_jobs(const TenantLine& line) { return jobs_left(line, 0); }

VideoMinutes lendable(std::span<const TenantLine> lines, const BatchCapacity& capacity) {
  std::int64_t running = 0;
  VideoMinutes waiting;
  for (const TenantLine& line : lines) {
    running += line.running_jobs;
    waiting += claimable_work(line);
  }
  if (static_cast<double>(running) >= capacity.utilisation * capacity.gpus) return {};
  const VideoMinutes ahead(from_seconds(capacity.budget() * in_seconds(k_lent_ahead)));
  return std::max(ahead - waiting, VideoMinutes{});
}

std::int64_t claimable_jobs(const TenantLine& line) {
  if (line.terms.max_running == 0) return line.released_jobs;
  const std::int64_t free = std::max<std::int64_t>(line.terms.max_running - line.running_jobs, 0);
  return std::min(free, line.released_jobs);
}

VideoMinutes claimable_work(const TenantLine& line) {
  if (line.released_jobs <= 0) return line.released;
  const double part =
      static_cast<double>(claimable_jobs(line)) / static_cast<double>(line.released_jobs);
  return VideoMinutes(from_seconds(60 * part * line.released.count()));
}

}  // namespace navtalk
