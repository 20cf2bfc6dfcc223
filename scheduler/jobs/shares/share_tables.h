// Rows of the tables `tenants`, `job_shares`, `job_lane` and `job_totals`. Stateless; all within the
// caller's transaction.
#pragma once

#include <optional>
#include <vector>

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
  double rate = 0;  // video-minutes that a GPU renders in a minute
  VideoMinutes
      measured{};  // work of the jobs of which the rate was learnt, the latest ones above all
  std::int64_t seen_event = 0;  // of job_events
  std::int64_t seen_promise =
      0;  // the job whose promise was checked last; they are checked in turn
  TimePoint divided_at{};
};
LaneRow read_lane(Transaction& transaction);
void write_lane(Transaction& transaction, const LaneRow& lane);

// One line for each tenant that has or had jobs, without terms.
std::vector<TenantLine> read_lines(Transaction& transaction);
void write_line(Transaction& transaction, const TenantLine& line);
void write_place(Transaction& transaction, const TenantLine& line);

}  // namespace navtalk
