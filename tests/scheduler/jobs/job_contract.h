// Jobs for the contract's tests, and a store of them.
#pragma once

#include "scheduler/jobs/job_store.h"
#include "tests/scheduler/store/store_place.h"

namespace navtalk::tests {

inline const Cause k_user{"user", "wants it"};
inline constexpr VideoMinutes k_any_work{std::chrono::hours(1000)};

inline JobStore open_jobs(const auto& place, JobRules rules = {}) {
  return JobStore(StoreBackend::open(place.url()), rules);
}

inline NewJob new_job(const std::string& avatar, int priority = 0, const std::string& key = {}) {
  return {.spec = {.tenant = {"acme"}, .avatar = avatar, .text = "Hello", .priority = priority},
          .work = VideoMinutes(std::chrono::minutes(2)),
          .key = key};
}

// Submitted and released.
inline Job add_job(JobStore& jobs, const NewJob& job) {
  const Job made = jobs.submit(job, k_user, jobs.now()).job;
  jobs.release(made.spec.tenant, k_any_work, 1000, k_user, jobs.now());
  return made;
}

inline Job claimed(JobStore& jobs, TimePoint now, const std::string& worker = "w") {
  const auto job = jobs.claim(worker, by_priority, now);
  REQUIRE(job);
  return *job;
}

inline JobLease lease_of(const Job& job) { return {job.id, job.epoch}; }

inline Job found(JobStore& jobs, const JobId& id) {
  const auto job = jobs.find(id);
  REQUIRE(job);
  return *job;
}

}  // namespace navtalk::tests
