#include "scheduler/jobs/shares/first_jobs.h"

#include <algorithm>
#include <utility>

#include "scheduler/jobs/job_table.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// What a row of k_lane_use tells. A try that waits for its time takes no slot now.
enum class LaneRowKind : std::uint8_t { tenant, delayed_job, plan, headroom };

// One message to a database and back: claims follow each other, and all that they do is done one at a time. Delayed jobs
// are not counted here: grouped, SQLite would walk through all jobs ever submitted.
constexpr const char* k_lane_use =
    "SELECT 0, u.tenant, u.released, u.running, COALESCE(t.plan, 0), COALESCE(t.weight, 1), "
    "COALESCE(t.max_running, 0), COALESCE(s.recent_slots, 0), COALESCE(s.started, 0), "
    "COALESCE(s.finished, 0) FROM (SELECT tenant, CAST(SUM(CASE WHEN state = 1 THEN jobs ELSE 0 "
    "END) AS BIGINT) AS released, CAST(SUM(CASE WHEN state = 2 THEN jobs ELSE 0 END) AS BIGINT) AS "
    "running FROM job_totals WHERE state IN (1, 2) AND jobs > 0 GROUP BY tenant) u LEFT JOIN "
    "job_shares s ON s.tenant = u.tenant LEFT JOIN tenants t ON t.tenant = u.tenant UNION ALL "
    "SELECT 1, tenant, 0, 0, 0, 0, 0, 0, 0, 0 FROM jobs WHERE not_before > 0 AND state = 1 UNION "
    "ALL SELECT 2, '', 0, 0, plan, 0, 0, 0, MAX(started), 0 FROM job_shares GROUP BY plan UNION "
    "ALL "
    "SELECT 3, headroom_tenant, headroom_running, headroom_until, 0, 0, 0, 0, 0, 0 FROM job_lane";

struct TenantUse {
  SlotUse use{};
  FairPlace place{};
};

TenantUse read_use(DbRows& rows) {
  return {.use = {.terms = {.plan = column::number<int>(rows, 4),
                            .weight = rows.real(5),
                            .max_running = column::number<int>(rows, 6)},
                  .running = rows.integer(3),
                  .waiting = rows.integer(2),
                  .history = {.slots = rows.real(7)}},
          .place = {.started = rows.real(8), .finished = rows.real(9)}};
}

FloodHeadroom read_headroom(DbRows& rows) {
  return {.tenant = {column::text(rows, 1)},
          .most_running = rows.integer(2),
          .until = column::time(rows, 3)};
}

}  // namespace

std::int64_t LaneUse::running() const {
  std::int64_t all = 0;
  for (const SlotUse& use : uses) all += use.running;
  return all;
}

std::optional<std::size_t> LaneUse::find(const TenantId& tenant) const {
  const auto found = std::ranges::lower_bound(tenants, tenant);
  if (found == tenants.end() || *found != tenant) return std::nullopt;
  return static_cast<std::size_t>(found - tenants.begin());
}

LaneUse lane_use(Transaction& transaction, const TenantTermsTable& fixed) {
  LaneUse lane;
  std::map<TenantId, TenantUse> uses;
  std::vector<TenantId> delayed;
  const auto rows = transaction.db.query(k_lane_use, {});
  while (rows->next()) {
    const auto kind = column::number<LaneRowKind>(*rows, 0);
    if (kind == LaneRowKind::plan) lane.times[column::number<int>(*rows, 4)] = rows->real(8);
    if (kind == LaneRowKind::delayed_job) delayed.push_back({column::text(*rows, 1)});
    if (kind == LaneRowKind::headroom) lane.headroom = read_headroom(*rows);
    if (kind == LaneRowKind::tenant)
      uses.emplace(TenantId{column::text(*rows, 1)}, read_use(*rows));
  }
  for (const TenantId& tenant : delayed) {
    const auto found = uses.find(tenant);
    if (found != uses.end() && found->second.use.waiting > 0) --found->second.use.waiting;
  }
  for (auto& [tenant, one] : uses) {
    const auto given = fixed.find(tenant);
    if (given != fixed.end()) one.use.terms = given->second;
    lane.tenants.push_back(tenant);
    lane.uses.push_back(one.use);
    lane.places.push_back(one.place);
  }
  return lane;
}

std::vector<ClaimCandidate> candidates_of(const LaneUse& lane, TimePoint now) {
  const std::int64_t running = lane.running();
  std::vector<ClaimCandidate> all;
  for (std::size_t i = 0; i < lane.uses.size(); ++i) {
    const SlotUse& use = lane.uses[i];
    if (use.waiting == 0) continue;
    if (lane.headroom.holds_back(lane.tenants[i], running, now)) continue;
    if (use.terms.max_running > 0 && use.running >= use.terms.max_running) continue;
    all.push_back({.order = static_cast<std::int64_t>(i),
                   .plan = use.terms.plan,
                   .weight = use.terms.weight,
                   .place = lane.places[i]});
  }
  return all;
}

std::optional<Job> first_job_of(Transaction& transaction, const TenantId& tenant) {
  const DbValue values[] = {tenant.text};
  return first_job(transaction,
                   "WHERE tenant = $1 AND state = 1 AND not_before = 0 ORDER BY priority DESC, "
                   "number LIMIT 1",
                   values);
}

// From one tenant to the next by the index jobs_claimable_of_tenant, and the first job of each.
std::map<TenantId, TimePoint> first_releases(Transaction& transaction) {
  const auto rows = transaction.db.query(
      "WITH RECURSIVE one (tenant) AS ("
      "SELECT MIN(tenant) FROM jobs WHERE state = 1 AND not_before = 0 UNION ALL "
      "SELECT (SELECT MIN(j.tenant) FROM jobs j WHERE j.state = 1 AND j.not_before = 0 AND "
      "j.tenant > one.tenant) FROM one WHERE one.tenant IS NOT NULL) "
      "SELECT one.tenant, (SELECT j.changed_at FROM jobs j WHERE j.tenant = one.tenant AND j.state "
      "= 1 AND j.not_before = 0 ORDER BY j.priority DESC, j.number LIMIT 1) FROM one WHERE "
      "one.tenant IS NOT NULL",
      {});
  std::map<TenantId, TimePoint> releases;
  while (rows->next()) releases.emplace(TenantId{column::text(*rows, 0)}, column::time(*rows, 1));
  return releases;
}

}  // namespace navtalk
