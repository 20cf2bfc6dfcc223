// Running jobs whose workers have ended: at once where the process is known to have ended on this
// host, otherwise when the lease has expired. Stateless.
#pragma once

#include <string>

#include "scheduler/jobs/job_store.h"

namespace navtalk {

// Workers are named by this_process(). `me` is not asked about, and stands in the jobs' history.
void requeue_of_dead_workers(JobStore& store, const std::string& me);
// Not after an outage of the store, in which nobody could renew.
void requeue_expired_leases(JobStore& store, const std::string& me);

}  // namespace navtalk
