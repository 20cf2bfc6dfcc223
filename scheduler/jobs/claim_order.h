// Which job a worker gets next. A policy is a function that looks only at the store, within the
// transaction of the claim, so that another one takes its place without a change of the store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// The number of a claimable job: released, and past its not_before (which the claim has set back to 0
// by then); nullopt: there is none. May be called again with another transaction.
using ClaimOrder = std::function<std::optional<std::int64_t>(Transaction&)>;

// The highest priority, then the earliest submission, whichever tenant's it is.
std::optional<std::int64_t> by_priority(Transaction& transaction);

// The first of these jobs, in their order, and no other.
ClaimOrder first_of(std::vector<std::int64_t> numbers);

}  // namespace navtalk
