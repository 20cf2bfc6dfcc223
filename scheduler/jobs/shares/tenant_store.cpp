#include "scheduler/jobs/shares/tenant_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/lanes/said_supply.h"
#include "scheduler/jobs/promises/job_estimates.h"
#include "scheduler/jobs/shares/division.h"
#include "scheduler/jobs/shares/first_jobs.h"
#include "scheduler/jobs/shares/lane_turn.h"
#include "scheduler/jobs/shares/preemption_in_store.h"
#include "scheduler/jobs/shares/share_tables.h"
#include "scheduler/pool/tenant_name.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {
namespace {

void check_range(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw Error(Code::invalid,
              fmt::format("{} {:g} is not between {:g} and {:g}", what, value, least, most));
}

void check_terms(const TenantId& tenant, const TenantTerms& terms) {
  check_tenant_name(tenant);
  check_range("plan", terms.plan, 0, k_highest_plan);
  check_range("weight", terms.weight, k_least_weight, k_most_weight);
  check_range("max_rate", terms.max_rate, 0, k_most_minutes);
  check_range("max_queued", terms.max_queued.count(), 0, k_most_minutes);
  check_range("max_running", terms.max_running, 0, k_most_running);
}

// With as many digits as show that the sum is more than the limit.
Error queue_refusal(const TenantId& tenant, VideoMinutes queued, VideoMinutes work,
                    VideoMinutes limit) {
  constexpr int k_most_digits = 8;  // a microsecond
  int digits = 1;
  const auto rounded = [&digits](VideoMinutes amount) {
    return std::round(amount.count() * std::pow(10, digits));
  };
  while (digits < k_most_digits && rounded(queued) + rounded(work) <= rounded(limit)) ++digits;
  return {Code::no_capacity,
          fmt::format("tenant '{}' has {:.{}f} video-minutes queued, and {:.{}f} more would "
                      "exceed its limit of {:.{}f}: submit them when some are done",
                      tenant.text, queued.count(), digits, work.count(), digits, limit.count(),
                      digits)};
}

// Anything that a turn of the division would change.
bool anything_to_do(Transaction& t) {
  const auto jobs =
      t.db.query("SELECT 1 FROM job_totals WHERE state <= 2 AND jobs > 0 LIMIT 1", {});
  if (jobs->next()) return true;
  const auto events = t.db.query(
      "SELECT 1 FROM job_events WHERE number > (SELECT seen_event FROM job_lane WHERE id = 1) "
      "LIMIT "
      "1",
      {});
  return events->next();
}

}  // namespace

TenantLine& Division::line_of(const TenantId& tenant, const TenantTerms& terms) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const TenantLine& line) { return line.tenant == tenant; });
  if (found != lines.end()) return *found;
  lines.push_back({.tenant = tenant, .terms = terms});
  return lines.back();
}

TenantTerms TenantStore::terms_in(Transaction& transaction, const TenantId& tenant) const {
  const auto given = fixed_.find(tenant);
  if (given != fixed_.end()) return given->second;
  return find_terms(transaction, tenant).value_or(TenantTerms{});
}

TenantTermsTable TenantStore::table_in(Transaction& transaction) const {
  TenantTermsTable table = all_terms(transaction);
  for (const auto& [tenant, terms] : fixed_) table[tenant] = terms;
  return table;
}

TenantTermsTable TenantStore::table() {
  return in_read(*backend_, [&](Transaction& t) { return table_in(t); });
}

TenantTerms TenantStore::terms_of(const TenantId& tenant) {
  return in_read(*backend_, [&](Transaction& t) { return terms_in(t, tenant); });
}

void TenantStore::set(const TenantId& tenant, const TenantTerms& terms) {
  check_terms(tenant, terms);
  if (fixed_.contains(tenant)) {
    throw Error(Code::invalid, "tenant '" + tenant.text +
                                   "' has a [[tenant]] block in the configuration file, which "
                                   "stands above the store: change it there");
  }
  in_write(*backend_, Durability::durable, [&](Transaction& t) { write_terms(t, tenant, terms); });
}

void TenantStore::check_queue(const TenantId& tenant, VideoMinutes work) {
  in_read(*backend_, [&](Transaction& t) {
    check_queue_in(t, tenant, work);
    return true;
  });
}

SubmitRule TenantStore::queue_rule() const {
  return
      [this](Transaction& t, const NewJob& job) { check_queue_in(t, job.spec.tenant, job.work); };
}

void TenantStore::check_queue_in(Transaction& t, const TenantId& tenant, VideoMinutes work) const {
  const TenantTerms terms = terms_in(t, tenant);
  if (terms.max_queued == VideoMinutes{}) return;
  const auto rows =
      t.db.query("SELECT work FROM job_totals WHERE tenant = $1 AND state = 0", {tenant.text});
  const VideoMinutes queued =
      rows->next() ? VideoMinutes(column::duration(*rows, 0)) : VideoMinutes{};
  if (queued + work <= terms.max_queued) return;
  throw queue_refusal(tenant, queued, work, terms.max_queued);
}

BatchCapacity Division::expected_capacity() const {
  const double prior = supply.prior_rate > 0 ? supply.prior_rate : k_gpu_prior_rate;
  return capacity.with_prior(prior, k_prior_overhead);
}

double assured_share(const Division& division, const TenantId& tenant) {
  for (std::size_t i = 0; i < division.lines.size(); ++i) {
    if (division.lines[i].tenant == tenant)
      return assured_share(division.lines, i, division.expected_capacity());
  }
  return 0;
}

Division TenantStore::division_in(Transaction& transaction) const {
  const LaneRow lane = read_lane(transaction);
  Division division{.lines = read_lines(transaction),
                    .correction = promise_correction(transaction),
                    .supply = read_lane_supply(transaction)};
  division.capacity = capacity_of(lane, division.lines);
  const TenantTermsTable terms = table_in(transaction);
  for (TenantLine& line : division.lines) {
    const auto given = terms.find(line.tenant);
    if (given != terms.end()) line.terms = given->second;
  }
  return division;
}

Division TenantStore::division() {
  return in_read(*backend_, [&](Transaction& t) { return division_in(t); });
}

VideoMinutes TenantStore::divide(double gpus, const Cause& cause, TimePoint now,
                                 std::int64_t slots) {
  const auto due = [&](Transaction& t) { return anything_to_do(t) || read_lane(t).gpus != gpus; };
  if (!in_read(*backend_, due)) return {};
  // A crash of the machine may undo it: then the next turn does the same.
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    return LaneTurn(t, table_in(t), cause, now).take(gpus, slots);
  });
}

bool TenantStore::has_claimable(TimePoint now) {
  return in_read(*backend_, [&](Transaction& t) {
    if (!any_claimable(t, now)) return false;
    if (!candidates_of(lane_use(t, fixed_), now).empty()) return true;
    return any_delay_over(t, now) && !read_lane(t).headroom.holds(now);
  });
}

std::vector<JobPreemption> TenantStore::preemptions(const std::string& worker, bool lacks_slot,
                                                    const PreemptionRules& rules) {
  return in_read(*backend_, [&](Transaction& t) {
    return preemptions_in(t, fixed_, worker, lacks_slot, rules);
  });
}

std::vector<std::optional<JobEstimate>> TenantStore::promise(std::span<const JobId> jobs,
                                                             TimePoint now) {
  return in_write(*backend_, Durability::durable, [&](Transaction& t) {
    const Division known = division_in(t);
    std::vector<std::optional<JobEstimate>> estimates;
    for (const JobId& id : jobs) {
      const auto job = find_job(t, id);
      estimates.push_back(job ? estimate_in(t, known, *job, CountFrom::end, now) : std::nullopt);
      if (estimates.back()) insert_promise(t, job->number, now, estimates.back()->promise);
    }
    return estimates;
  });
}

std::optional<JobPromise> TenantStore::promise_of(const JobId& id) {
  return in_read(*backend_, [&](Transaction& t) -> std::optional<JobPromise> {
    const auto job = find_job(t, id);
    return job ? find_promise(t, job->number) : std::nullopt;
  });
}

JobOutlook TenantStore::outlook_of(const JobId& id, CountFrom from, TimePoint now) {
  return in_read(*backend_, [&](Transaction& t) -> JobOutlook {
    const auto job = find_job(t, id);
    if (!job) return {};
    JobOutlook outlook{.promise = find_promise(t, job->number)};
    if (!is_final(job->state)) outlook.estimate = estimate_in(t, division_in(t), *job, from, now);
    if (job->state == JobState::queued || job->state == JobState::released)
      outlook.position =
          outlook.estimate ? outlook.estimate->position : waiting_before(t, *job) + 1;
    return outlook;
  });
}

JobPromiseScore TenantStore::promise_score(TimePoint since) {
  return in_read(*backend_, [&](Transaction& t) { return score_promises(t, since); });
}

}  // namespace navtalk
