#include "scheduler/jobs/kept_lease.h"

#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk {

KeptLease::KeptLease(JobStore& store, JobLease lease)
    : store_(store),
      lease_(std::move(lease)),
      every_(store.rules().lease / 6),
      patience_(store.rules().lease * 20),
      thread_([this](const std::stop_token& stop) { keep(stop); }) {}

void KeptLease::keep(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, every_, [] { return false; });
    if (stop.stop_requested() || Clock::now() - advanced_.load() > patience_) continue;
    if (renew()) continue;
    lost_ = true;
    return;
  }
}

// Without the store nobody else can take the job.
bool KeptLease::renew() {
  try {
    return store_.renew(lease_, store_.now());
  } catch (const Error& error) {
    log::warn("a job's lease cannot be renewed now",
              {{"job", lease_.job.text}, {"error", error.message()}});
    return true;
  }
}

}  // namespace navtalk
