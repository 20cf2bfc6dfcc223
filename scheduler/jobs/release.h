// Release of a tenant's queued jobs, within the caller's transaction. Stateless.
#pragma once

#include "scheduler/jobs/job_store.h"

namespace navtalk {

// See JobStore::release().
JobTotal release_jobs(Transaction& transaction, const TenantId& tenant, VideoMinutes budget,
                      std::size_t most, const Cause& cause, TimePoint now);

}  // namespace navtalk
