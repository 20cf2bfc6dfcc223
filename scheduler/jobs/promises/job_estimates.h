// Finish times of jobs in a store: for jobs that a tenant is about to submit, for a stored job, and as
// promises.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/jobs/shares/tenant_store.h"

namespace navtalk {

// From now, behind what the tenant has queued. One for each work, in the order of submission, as if those
// before it had been submitted; nullopt where the lane counts on no GPU. Until jobs have shown how fast they are
// rendered, by the supply's prior rate and with a wide buffer.
// Error{failed} when the database cannot be reached.
std::vector<std::optional<JobEstimate>> estimate(TenantStore& store, const TenantId& tenant,
                                                 std::span<const VideoMinutes> works);
std::optional<JobEstimate> estimate(TenantStore& store, const TenantId& tenant, VideoMinutes work);

// For a job that is not over; nullopt for one that is, too.
std::optional<JobEstimate> estimate_in(Transaction& transaction, const Division& division,
                                       const Job& job, CountFrom from, TimePoint now);

// Of the tenant's jobs, queued and released, how many are claimed before this one, which is one of them.
std::int64_t waiting_before(Transaction& transaction, const Job& job);

}  // namespace navtalk
