// Running jobs whose workers have ended: at once where the process is known to have ended on this
// host, otherwise when the lease has expired. Stateless.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/jobs/job_store.h"

namespace navtalk {

// Workers are named by this_process(). `me` is not asked about, and stands in the jobs' history.
// The jobs, as they are afterwards: released, or dead after too many losses.
std::vector<Job> requeue_of_dead_workers(JobStore& store, const std::string& me);
// Not after an outage of the store, in which nobody could renew. `mine`: what `me` still works on.
std::vector<Job> requeue_expired_leases(JobStore& store, const std::string& me,
                                        const std::set<JobId>& mine = {});

}  // namespace navtalk
