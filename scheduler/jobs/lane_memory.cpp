#include "scheduler/jobs/lane_memory.h"

#include <algorithm>
#include <utility>

#include "scheduler/jobs/job_table.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

constexpr std::chrono::minutes k_read_all_after(1);
// Fewer than the migration keeps (0024-lane-changes.sql).
constexpr std::int64_t k_most_passed = 6000;
// A longer text is read when its job is claimed: a memory holds a job of each tenant.
constexpr const char* k_short_text = "CASE WHEN octet_length(text) <= 2000 THEN text END";
// Columns of the first job, as job_columns() has them.
constexpr int k_tenant = 4, k_job = 14, k_text = k_job + 5;

constexpr const char* k_end_delays =
    "UPDATE jobs SET not_before = 0 WHERE not_before > 0 AND not_before <= (SELECT (extract(epoch "
    "FROM clock_timestamp()) * 1000000)::bigint)";

// The lane's row, beside each tenant or alone. LIMIT 1 has PostgreSQL look up each of these tenants instead of joining
// whole tables, however many it expects.
std::string query_of(const std::string& tenants) {
  return "SELECT l.headroom_tenant, l.headroom_running, l.headroom_until, COALESCE((SELECT number "
         "FROM lane_changes ORDER BY number DESC LIMIT 1), 0), k.* FROM job_lane l LEFT JOIN "
         "LATERAL (SELECT c.tenant, COALESCE(r.jobs, 0) - (SELECT COUNT(*) FROM jobs WHERE tenant "
         "= "
         "c.tenant AND state = 1 AND not_before > 0), COALESCE(w.jobs, 0), COALESCE(t.plan, 0), "
         "COALESCE(t.weight, 1), COALESCE(t.max_running, 0), COALESCE(s.recent_slots, 0), "
         "COALESCE(s.started, 0), COALESCE(s.finished, 0), s.plan, j.* FROM (" +
         tenants +
         ") c LEFT JOIN LATERAL (SELECT jobs FROM job_totals WHERE tenant = c.tenant AND state = 1 "
         "LIMIT 1) r ON TRUE LEFT JOIN LATERAL (SELECT jobs FROM job_totals WHERE tenant = "
         "c.tenant AND state = 2 LIMIT 1) w ON TRUE LEFT JOIN LATERAL (SELECT plan, weight, "
         "max_running FROM tenants WHERE tenant = c.tenant LIMIT 1) t ON TRUE LEFT JOIN LATERAL "
         "(SELECT plan, recent_slots, started, finished FROM job_shares WHERE tenant = c.tenant "
         "LIMIT 1) s ON TRUE LEFT JOIN LATERAL (SELECT " +
         job_columns(k_short_text) +
         " FROM jobs WHERE tenant = c.tenant AND state = 1 AND not_before = 0 ORDER BY priority "
         "DESC, number LIMIT 1) j ON TRUE) k ON TRUE WHERE l.id = 1";
}

const std::string& all_query() {
  static const std::string sql = query_of(
      "SELECT tenant FROM job_totals WHERE state IN (1, 2) AND jobs > 0 UNION SELECT tenant FROM "
      "job_shares");
  return sql;
}

// Without a parameter, by whose value PostgreSQL would plan it anew each time.
const std::string& changes_query() {
  static const std::string sql = query_of(
      "SELECT DISTINCT tenant FROM lane_changes WHERE number > "
      "current_setting('navtalk.lane_seen')::bigint");
  return sql;
}

KnownTenant read_tenant(DbRows& rows) {
  KnownTenant known{.use = {.terms = {.plan = column::number<int>(rows, 7),
                                      .weight = rows.real(8),
                                      .max_running = column::number<int>(rows, 9)},
                            .running = rows.integer(6),
                            .waiting = std::max<std::int64_t>(rows.integer(5), 0),
                            .history = {.slots = rows.real(10)}},
                    .place = {.started = rows.real(11), .finished = rows.real(12)},
                    .placed_in = column::maybe<int>(rows, 13)};
  if (!rows.null(k_job)) {
    known.text_left_out = rows.null(k_text);
    known.first = read_job(rows, k_job);
  }
  return known;
}

}  // namespace

LaneMemory& LaneMemory::of(std::any& memory) {
  auto* lane = std::any_cast<LaneMemory>(&memory);
  return lane != nullptr ? *lane : memory.emplace<LaneMemory>();
}

std::string LaneMemory::opening(DbConnection& db, std::any& memory) {
  db.run(k_end_delays, {});
  return of(memory).question(db);
}

const LaneMemory& LaneMemory::refreshed(Transaction& transaction) {
  LaneMemory& lane = of(*transaction.memory);
  if (const auto opened = std::exchange(transaction.opened, nullptr)) {
    lane.take(*opened);
  } else {
    lane.take(*transaction.db.query(lane.question(transaction.db), {}));
  }
  if (lane.passed_ > k_most_passed) {  // the oldest of them may be gone
    lane.seen_ = std::nullopt;
    lane.take(*transaction.db.query(lane.question(transaction.db), {}));
  }
  return lane;
}

const std::string& LaneMemory::question(DbConnection& db) {
  const auto now = std::chrono::steady_clock::now();
  if (now - read_all_at_ >= k_read_all_after) seen_ = std::nullopt;
  if (!seen_) {
    read_all_at_ = now;
    tenants_.clear();
    return all_query();
  }
  const std::string seen = std::to_string(*seen_);
  db.run("SELECT set_config('navtalk.lane_seen', $1, false)", {seen});
  return changes_query();
}

void LaneMemory::take(DbRows& rows) {
  std::optional<std::int64_t> latest;
  while (rows.next()) {
    headroom_ = {.tenant = {column::text(rows, 0)},
                 .most_running = rows.integer(1),
                 .until = column::time(rows, 2)};
    latest = rows.integer(3);
    if (!rows.null(k_tenant)) tenants_[{column::text(rows, k_tenant)}] = read_tenant(rows);
  }
  passed_ = latest && seen_ ? *latest - *seen_ : 0;
  seen_ = latest;
}

}  // namespace navtalk
