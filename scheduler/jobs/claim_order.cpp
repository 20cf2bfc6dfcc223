#include "scheduler/jobs/claim_order.h"

#include <utility>

#include "scheduler/store/columns.h"

namespace navtalk {

// By the index jobs_claimable, whose first entry it is.
std::optional<std::int64_t> by_priority(Transaction& transaction) {
  const auto rows = transaction.db.query(
      "SELECT number FROM jobs WHERE state = 1 AND not_before = 0 ORDER BY priority DESC, number "
      "LIMIT 1",
      {});
  return rows->next() ? std::optional(rows->integer(0)) : std::nullopt;
}

ClaimOrder first_of(std::vector<std::int64_t> numbers) {
  return [numbers = std::move(numbers)](Transaction& transaction) -> std::optional<std::int64_t> {
    for (const std::int64_t number : numbers) {
      const auto rows = transaction.db.query(
          "SELECT 1 FROM jobs WHERE number = $1 AND state = 1 AND not_before = 0", {number});
      if (rows->next()) return number;
    }
    return std::nullopt;
  };
}

}  // namespace navtalk
