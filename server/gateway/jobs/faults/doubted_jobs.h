// Jobs that a worker has called unfit and another one is to judge, so that a worker which cannot decode anything fails none
// of them for good. Pure; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "scheduler/jobs/job.h"
#include "scheduler/pool/gpu.h"

namespace navtalk::server {

class DoubtedJobs {
 public:
  // So often a worker may get a job again that it has called unfit, since no other one was free.
  static constexpr int k_most_times = 3;
  // Those that are kept: a gateway that runs for months forgets them all rather than grow.
  static constexpr std::size_t k_most = 10'000;

  // Whether a refusal by that worker would be the first one, or no other worker's than the earlier ones.
  bool may_doubt(const JobId& job, const GpuId& gpu) const {
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return true;
    return found->second.by == std::set{gpu} && found->second.times < k_most_times;
  }
  void doubted(const JobId& job, const GpuId& gpu) {
    if (jobs_.size() >= k_most) jobs_.clear();
    Doubt& doubt = jobs_[job];
    doubt.by.insert(gpu);
    ++doubt.times;
  }
  // It is over.
  void ended(const JobId& job) { jobs_.erase(job); }

 private:
  struct Doubt {
    std::set<GpuId> by{};
    int times = 0;
  };
  std::map<JobId, Doubt> jobs_{};
};

}  // namespace navtalk::server
