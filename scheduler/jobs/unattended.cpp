#include "scheduler/jobs/unattended.h"

#include <algorithm>
#include <iterator>

#include "core/process/identity.h"

namespace navtalk {

std::vector<Job> requeue_of_dead_workers(JobStore& store, const std::string& me) {
  std::vector<Job> all;
  for (const std::string& worker : store.workers()) {
    if (worker == me || !is_dead(worker)) continue;
    std::vector<Job> lost =
        store.requeue_of(worker, {me, "the process that had it has ended"}, store.now());
    std::move(lost.begin(), lost.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<Job> requeue_expired_leases(JobStore& store, const std::string& me,
                                        const std::set<JobId>& mine) {
  return store.requeue_expired({me, "its lease has expired"}, store.now(), mine);
}

}  // namespace navtalk
