// Which workers get no job for a while, since they did not do one. Pure; one thread.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "core/base/id.h"
#include "scheduler/pool/gpu.h"

namespace navtalk::server {

class WorkerRest {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds k_rest{10};
  // A worker that calls one job after the other unfit is at fault itself more often than they are.
  static constexpr int k_refusals = 2;

  // It did not do a job: it rests.
  void failed(const GpuId& gpu, Time now);
  // It says that a job is at fault: it rests when it has said so of k_refusals jobs in a row.
  void refused(const GpuId& gpu, Time now);
  // It did a job.
  void done(const GpuId& gpu);
  // Those that rest at this time.
  std::vector<GpuId> at(Time now);

 private:
  std::map<GpuId, Time> until_{};
  std::map<GpuId, int> refusals_{};  // in a row
};

}  // namespace navtalk::server
