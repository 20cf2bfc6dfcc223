// Release of a tenant's queued jobs, within the caller's transaction. Stateless.
#pragma once

#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/shares/work_bucket.h"

namespace navtalk {

// See JobStore::release(). `bucket` pays for what is released; nullptr: nobody does.
JobTotal release_jobs(Transaction& transaction, const TenantId& tenant, VideoMinutes budget,
                      std::size_t most, const Cause& cause, TimePoint now, WorkBucket* bucket);

}  // namespace navtalk
