#include "server/gateway/jobs/faults/unkept_jobs.h"

#include <algorithm>
#include <utility>

namespace navtalk::server {

void UnkeptJobs::failed(const JobId& job, Time now) {
  if (jobs_.size() >= k_most) jobs_.clear();
  Unkept& unkept = jobs_[job];
  ++unkept.times;
  if (pauses(now)) return;  // one of several that ended for the same reason
  const bool again = std::exchange(last_, job) == job;
  if (!again && !unkept.others_kept) pause(now);
}

void UnkeptJobs::pause(Time now) {
  pause_ = std::clamp(2 * pause_, first_pause_, k_longest_pause);
  paused_until_ = now + pause_;
}

void UnkeptJobs::done(const JobId& job) {
  jobs_.erase(job);
  pause_ = {};
  for (auto& [other, unkept] : jobs_) unkept.others_kept = true;
}

int UnkeptJobs::times(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : found->second.times;
}

}  // namespace navtalk::server
