// The lease on a job, renewed on a thread of its own: a step of the work may take longer than a lease lasts. It is
// kept only while the work gets on, so that a job whose work is stuck comes to somebody else.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "scheduler/jobs/job_store.h"

namespace navtalk {

class KeptLease {
 public:
  // Renews six times a lease, and no longer than twenty leases after advance(). `store` outlives it.
  KeptLease(JobStore& store, JobLease lease);
  KeptLease(const KeptLease&) = delete;
  KeptLease& operator=(const KeptLease&) = delete;
  ~KeptLease() = default;

  // The work gets on. Any thread.
  void advance() { advanced_ = Clock::now(); }
  // Somebody else has the job, or it was cancelled.
  bool lost() const { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;

  void keep(const std::stop_token& stop);
  bool renew();

  JobStore& store_;
  const JobLease lease_;
  const Duration every_, patience_;
  std::atomic<Clock::time_point> advanced_ = Clock::now();
  std::atomic<bool> lost_ = false;
  std::mutex mutex_{};
  std::condition_variable_any wake_{};
  std::jthread thread_;  // the last one, which uses the others
};

}  // namespace navtalk
