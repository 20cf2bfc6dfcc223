// Which workers get no job for a while, since they did not do one. Pure; one thread.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "core/base/id.h"
#include "scheduler/pool/gpu.h"

namespace navtalk::server {

class WorkerRest {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds k_rest{10};
  // A worker that calls one job after the other unfit is at fault itself more often than they are; but one tenant may
  // send any number of jobs that are.
  static constexpr int k_refusals = 2;
  // For so long a tenant is one of those that a worker's rest would delay.
  static constexpr std::chrono::hours k_lately{1};

  // A job of that tenant begins, at any worker.
  void begun(const TenantId& tenant, Time now) { seen_[tenant] = now; }
  // It did not do a job: it rests.
  void failed(const GpuId& gpu, Time now);
  // It says that a job is at fault: it rests when it has said so of k_refusals jobs in a row, and these are not all one
  // tenant's while others have had jobs lately.
  void refused(const GpuId& gpu, const TenantId& tenant, Time now);
  // It did a job.
  void done(const GpuId& gpu);
  // Whether its next refusal of a job is to be believed: it has done one, and refused none since.
  bool believed(const GpuId& gpu) const { return done_.contains(gpu) && !refusals_.contains(gpu); }
  // Those that rest at this time.
  std::vector<GpuId> at(Time now);

 private:
  struct Refusals {  // in a row
    int jobs = 0;
    std::set<TenantId> tenants{};
  };

  std::map<GpuId, Time> until_{};
  std::set<GpuId> done_{};  // that have done a job, and have not failed since
  std::map<GpuId, Refusals> refusals_{};
  std::map<TenantId, Time> seen_{};  // when a job of theirs began last
};

}  // namespace navtalk::server
