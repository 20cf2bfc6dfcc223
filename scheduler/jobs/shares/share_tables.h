// Rows of the tables `tenants`, `job_shares`, `job_lane` and `job_totals`. Stateless; all within the
// caller's transaction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/jobs/shares/flood_headroom.h"
#include "scheduler/jobs/shares/job_pace.h"
#include "scheduler/jobs/shares/tenant_line.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

std::optional<TenantTerms> find_terms(Transaction& transaction, const TenantId& tenant);
TenantTermsTable all_terms(Transaction& transaction);
void write_terms(Transaction& transaction, const TenantId& tenant, const TenantTerms& terms);

// What the lane has measured.
struct LaneRow {
  double gpus = 0;
  JobPace pace{};
  std::int64_t seen_event = 0;  // of job_events
  std::int64_t seen_promise =
      0;  // the job whose promise was checked last; they are checked in turn
  TimePoint divided_at{};
  double recent_budget = 0;  // then, video-minutes a minute; see BatchCapacity::remembering()
  FloodHeadroom headroom{};
};
LaneRow read_lane(Transaction& transaction);
void write_lane(Transaction& transaction, const LaneRow& lane);
// Its rate is that of the jobs that are not over; as learnt while there are none, and 0 where nothing was learnt. Its
// lasting rate is also that of the latest finished ones.
BatchCapacity capacity_of(const LaneRow& lane, std::span<const TenantLine> lines);

// One line for each tenant that has or had jobs, without terms.
std::vector<TenantLine> read_lines(Transaction& transaction);
void write_line(Transaction& transaction, const TenantLine& line);
void write_place(Transaction& transaction, const TenantLine& line);

}  // namespace navtalk
