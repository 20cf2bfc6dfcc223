// Finish times of jobs in a store: for what a tenant is about to submit, for a job that is there, and
// as promises.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/jobs/shares/tenant_store.h"

namespace navtalk {

// From now, with what the tenant has queued ahead. One for each work, in the order of submission, as if
// the ones before it were submitted too; nullopt: no job was rendered yet, so that nothing is known.
// Error{failed} when the database cannot be reached.
std::vector<std::optional<JobEstimate>> estimate(TenantStore& store, const TenantId& tenant,
                                                 std::span<const VideoMinutes> works);
std::optional<JobEstimate> estimate(TenantStore& store, const TenantId& tenant, VideoMinutes work);

// Whether a job's place in the queue is counted from the front or from the end, whichever is nearer.
enum class CountFrom : std::uint8_t { front, end };
// Of a job that is not over; nullopt also for one that is.
std::optional<JobEstimate> estimate_in(Transaction& transaction, const Division& division,
                                       const Job& job, CountFrom from, TimePoint now);

}  // namespace navtalk
