// One step of the division: each tenant's demand, its share of the budget, and how much it may release.
// Pure.
#pragma once

#include <span>
#include <vector>

#include "scheduler/jobs/shares/batch_capacity.h"
#include "scheduler/jobs/shares/tenant_line.h"

namespace navtalk {

// Demand is what releases the queue, and pays debt, within this time.
inline constexpr Duration k_demand_horizon = std::chrono::minutes(5);
// Capacity outside of all shares is lent this far ahead.
inline constexpr Duration k_lent_ahead = std::chrono::seconds(10);

// Samples the demand of each line and what it has of the slots and waits for, divides the budget, and refills the buckets. A tenant demands what it
// has queued and what its bucket lacks; a full bucket holds ten minutes of an even part of the budget. So
// a tenant's work within its share is released at once, however much others have queued, and all buckets
// together get no more than the budget. When the budget falls, what is in a bucket beyond a full one's is not refilled,
// and is cut only as far as ten minutes of capacity.recent_budget allow.
void divide(std::span<TenantLine> lines, const BatchCapacity& capacity, TimePoint now);

// What this tenant's share would be if its queue were endless: the rate that it can rely on.
// Video-minutes a minute; `index` is its line.
double assured_share(std::span<const TenantLine> lines, std::size_t index,
                     const BatchCapacity& capacity);

// What a tenant may have released before its bucket allows it, since jobs of others give way to it.
struct EarlyRelease {
  double jobs = 0;  // that run or are released: its part of the slots
  double debt = 0;  // of its bucket, to which it pays: a full one, video-minutes
};
// One for each line.
std::vector<EarlyRelease> early_releases(std::span<const TenantLine> lines,
                                         const BatchCapacity& capacity);
// Whether one more job of the tenant is released early: it has less than its part of the slots. One that has a largest rate
// waits when its debt is as large as it may be.
bool releases_early(const TenantLine& line, const EarlyRelease& most);
// Whether its bucket pays for that job. Beyond its debt nobody does, since its part bounds what it has.
bool pays_early(const TenantLine& line, const EarlyRelease& most);

// Of a tenant with a largest number of running jobs so many more are released, so that the next one can be claimed at once
// when one ends, and not after the next step.
inline constexpr std::int64_t k_released_ahead = 2;
// How many more jobs the tenant may have released when its bucket pays for them.
std::size_t releasable_jobs(const TenantLine& line);
// Those of them that may be claimed at once when a GPU is idle.
std::size_t startable_jobs(const TenantLine& line);

// Work that may be released beyond the shares because GPUs are idle: lent, and not taken from a bucket.
// None while as many GPUs work as the division plans with. What is released beyond a tenant's largest number of running jobs
// fills no GPU.
VideoMinutes lendable(std::span<const TenantLine> lines, const BatchCapacity& capacity);

}  // namespace navtalk
