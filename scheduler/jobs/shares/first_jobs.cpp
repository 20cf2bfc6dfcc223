#include "scheduler/jobs/shares/first_jobs.h"

#include <utility>

#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// From one tenant to the next by the index jobs_claimable_of_tenant, and the first job of each.
constexpr const char* k_first_jobs =
    "WITH RECURSIVE one (tenant) AS ("
    "SELECT MIN(tenant) FROM jobs WHERE state = 1 AND not_before = 0 UNION ALL "
    "SELECT (SELECT MIN(j.tenant) FROM jobs j WHERE j.state = 1 AND j.not_before = 0 AND j.tenant "
    "> one.tenant) FROM one WHERE one.tenant IS NOT NULL) "
    "SELECT one.tenant, f.number, f.changed_at, f.work - f.finished, COALESCE(s.started, 0), "
    "COALESCE(s.finished, 0), COALESCE(t.plan, 0), COALESCE(t.weight, 1), COALESCE(t.max_running, "
    "0), COALESCE(r.jobs, 0) FROM one JOIN jobs f ON f.number = (SELECT j.number FROM jobs j WHERE "
    "j.tenant = one.tenant AND j.state = 1 AND j.not_before = 0 ORDER BY j.priority DESC, j.number "
    "LIMIT 1) LEFT JOIN job_shares s ON s.tenant = one.tenant LEFT JOIN tenants t ON t.tenant = "
    "one.tenant LEFT JOIN job_totals r ON r.tenant = one.tenant AND r.state = 2 "
    "WHERE one.tenant IS NOT NULL";

FirstJob read_first_job(DbRows& rows) {
  FirstJob first;
  first.line.tenant = {column::text(rows, 0)};
  first.line.place = {.started = rows.real(4), .finished = rows.real(5)};
  first.line.terms = {.plan = column::number<int>(rows, 6),
                      .weight = rows.real(7),
                      .max_running = column::number<int>(rows, 8)};
  first.line.running_jobs = rows.integer(9);
  first.candidate = {.job = rows.integer(1), .waits_since = column::time(rows, 2)};
  first.work = VideoMinutes(column::duration(rows, 3));
  return first;
}

}  // namespace

std::vector<FirstJob> first_jobs(Transaction& transaction, const TenantTermsTable& fixed) {
  const auto rows = transaction.db.query(k_first_jobs, {});
  std::vector<FirstJob> all;
  while (rows->next()) {
    FirstJob first = read_first_job(*rows);
    TenantLine& line = first.line;
    const auto given = fixed.find(line.tenant);
    if (given != fixed.end()) line.terms = given->second;
    if (line.terms.max_running > 0 && line.running_jobs >= line.terms.max_running) continue;
    first.candidate.plan = line.terms.plan;
    first.candidate.weight = line.terms.weight;
    first.candidate.place = line.place;
    all.push_back(std::move(first));
  }
  return all;
}

std::map<TenantId, SlotUse> slot_uses(Transaction& transaction, const TenantTermsTable& fixed) {
  const auto rows = transaction.db.query(
      "SELECT r.tenant, r.state, r.jobs, COALESCE(t.plan, 0), COALESCE(t.weight, 1), "
      "COALESCE(t.max_running, 0), COALESCE(s.recent_slots, 0) FROM job_totals r LEFT JOIN tenants "
      "t ON t.tenant = r.tenant LEFT JOIN job_shares s ON s.tenant = r.tenant WHERE r.state IN (1, "
      "2) AND r.jobs > 0",
      {});
  std::map<TenantId, SlotUse> uses;
  while (rows->next()) {
    const TenantId tenant{column::text(*rows, 0)};
    SlotUse& use = uses[tenant];
    const bool runs = column::number<JobState>(*rows, 1) == JobState::running;
    (runs ? use.running : use.waiting) = rows->integer(2);
    use.history = {.slots = rows->real(6)};
    const auto given = fixed.find(tenant);
    use.terms = given != fixed.end() ? given->second
                                     : TenantTerms{.plan = column::number<int>(*rows, 3),
                                                   .weight = rows->real(4),
                                                   .max_running = column::number<int>(*rows, 5)};
  }
  // A try that waits for its time takes no slot now.
  const auto delayed =
      transaction.db.query("SELECT tenant FROM jobs WHERE not_before > 0 AND state = 1", {});
  while (delayed->next()) {
    const auto use = uses.find({column::text(*delayed, 0)});
    if (use != uses.end() && use->second.waiting > 0) --use->second.waiting;
  }
  return uses;
}

VirtualTimes virtual_times(Transaction& transaction) {
  const auto rows =
      transaction.db.query("SELECT plan, MAX(started) FROM job_shares GROUP BY plan", {});
  VirtualTimes times;
  while (rows->next()) times[column::number<int>(*rows, 0)] = rows->real(1);
  return times;
}

}  // namespace navtalk
