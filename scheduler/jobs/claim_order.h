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

// A claimable job: released, and past its not_before (which the claim has set back to 0 by then); with Job::placed where
// its claim costs the tenant's place in an order. nullopt: there is none. May be called again with another transaction.
using ClaimOrder = std::function<std::optional<Job>(Transaction&)>;

// The highest priority, then the earliest submission, whichever tenant's it is.
std::optional<Job> by_priority(Transaction& transaction);

// The first of these jobs, in their order, and no other.
ClaimOrder first_of(std::vector<std::int64_t> numbers);

}  // namespace navtalk
