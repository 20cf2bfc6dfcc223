// One turn of the division: what each tenant asks for, its share of the budget, and how much it may
// release. Pure.
#pragma once

#include <span>

#include "scheduler/jobs/shares/batch_capacity.h"
#include "scheduler/jobs/shares/tenant_line.h"

namespace navtalk {

// A queue asks to be released within this time, and debt to be paid within it.
inline constexpr Duration k_demand_horizon = std::chrono::minutes(5);
// Capacity that nobody's share covers is lent ahead for so long.
inline constexpr Duration k_lent_ahead = std::chrono::seconds(10);

// Takes in the demand of each line, divides the budget, and refills the buckets. A tenant asks for what
// it has queued and for what its bucket lacks to be full, and saves ten minutes of an even part of the
// budget. So what a tenant submits within its share is released at once, however much others have
// queued, and all buckets together get no more than the budget.
void divide(std::span<TenantLine> lines, const BatchCapacity& capacity, TimePoint now);

// What this tenant's share would be if its queue were endless: the rate on which it may count.
// Video-minutes a minute; `index` is its line.
double assured_share(std::span<const TenantLine> lines, std::size_t index,
                     const BatchCapacity& capacity);

// Jobs that the tenant may have released beside those that are released or running.
std::size_t releasable_jobs(const TenantLine& line);

// Work that may be released beyond the shares, because GPUs have none: lent, and not taken out of a
// bucket. None while as many GPUs work as the division counts on.
VideoMinutes lendable(std::span<const TenantLine> lines, const BatchCapacity& capacity);

}  // namespace navtalk
