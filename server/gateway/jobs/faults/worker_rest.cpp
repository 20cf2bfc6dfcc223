#include "server/gateway/jobs/faults/worker_rest.h"

namespace navtalk::server {

void WorkerRest::failed(const GpuId& gpu, Time now) {
  refusals_.erase(gpu);
  done_.erase(gpu);
  until_[gpu] = now + k_rest;
}

void WorkerRest::refused(const GpuId& gpu, const TenantId& tenant, Time now) {
  std::erase_if(seen_, [now](const auto& entry) { return now - entry.second >= k_lately; });
  Refusals& refusals = refusals_[gpu];
  ++refusals.jobs;
  refusals.tenants.insert(tenant);
  const bool of_one = refusals.tenants.size() == 1 && seen_.size() > 1;
  if (refusals.jobs >= k_refusals && !of_one) failed(gpu, now);
}

void WorkerRest::done(const GpuId& gpu) {
  refusals_.erase(gpu);
  done_.insert(gpu);
}

std::vector<GpuId> WorkerRest::at(Time now) {
  std::erase_if(until_, [now](const auto& entry) { return now >= entry.second; });
  std::vector<GpuId> resting;
  for (const auto& [gpu, until] : until_) resting.push_back(gpu);
  return resting;
}

}  // namespace navtalk::server
