#include "scheduler/jobs/claim_order.h"

#include <utility>

#include "scheduler/jobs/job_table.h"

namespace navtalk {

// By the index jobs_claimable, whose first entry it is.
std::optional<Job> by_priority(Transaction& transaction) {
  return first_job(transaction,
                   "WHERE state = 1 AND not_before = 0 ORDER BY priority DESC, number LIMIT 1", {});
}

ClaimOrder first_of(std::vector<std::int64_t> numbers) {
  return [numbers = std::move(numbers)](Transaction& transaction) -> std::optional<Job> {
    for (const std::int64_t number : numbers) {
      const DbValue values[] = {number};
      auto job =
          first_job(transaction, "WHERE number = $1 AND state = 1 AND not_before = 0", values);
      if (job) return job;
    }
    return std::nullopt;
  };
}

}  // namespace navtalk
