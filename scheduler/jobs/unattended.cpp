#include "scheduler/jobs/unattended.h"

#include "core/process/identity.h"

namespace navtalk {

void requeue_of_dead_workers(JobStore& store, const std::string& me) {
  for (const std::string& worker : store.workers()) {
    if (worker != me && is_dead(worker))
      store.requeue_of(worker, {me, "the process that had it has ended"}, store.now());
  }
}

void requeue_expired_leases(JobStore& store, const std::string& me) {
  store.requeue_expired({me, "its lease has expired"}, store.now());
}

}  // namespace navtalk
