#include "scheduler/store/queue_order.h"

#include <algorithm>

namespace navtalk {
namespace {

bool take_one(int& free) {
  if (free <= 0) return false;
  --free;
  return true;
}

bool take(SlotsByHost& slots, const std::string& host) {
  if (host.empty()) {  // reaches them all
    return take_one(slots.anywhere) || std::any_of(slots.of_host.begin(), slots.of_host.end(),
                                                   [](auto& one) { return take_one(one.second); });
  }
  const auto own = slots.of_host.find(host);
  return (own != slots.of_host.end() && take_one(own->second)) || take_one(slots.anywhere);
}

bool take_refused(const Claimant& claimant, const TenantId& dedicated_to,
                  std::vector<RefusedGpu>& gpus) {
  return std::ranges::any_of(gpus, [&](RefusedGpu& gpu) {
    const bool reached = gpu.host.empty() || claimant.host.empty() || gpu.host == claimant.host;
    return gpu.dedicated_to == dedicated_to && reached && gpu.free > 0 &&
           std::ranges::find(claimant.refuse, gpu.id) == claimant.refuse.end() &&
           take_one(gpu.free);
  });
}

// Takes a slot for the claimant; false when it cannot have one.
bool take(const Claimant& claimant, FreeSlots& slots) {
  int& held = slots.held[claimant.tenant];
  if (claimant.max_sessions > 0 && held >= claimant.max_sessions) return false;
  const auto own = slots.dedicated.find(claimant.tenant);
  const bool taken = take_refused(claimant, claimant.tenant, slots.refused) ||
                     take_refused(claimant, {}, slots.refused) ||
                     (own != slots.dedicated.end() && take(own->second, claimant.host)) ||
                     take(slots.shared, claimant.host);
  if (taken) ++held;
  return taken;
}

}  // namespace

bool reaches(const std::vector<Claimant>& ahead, const Claimant& claimant, FreeSlots slots) {
  for (const Claimant& other : ahead) take(other, slots);
  return take(claimant, slots);
}

std::size_t served(const std::vector<Claimant>& claimants, FreeSlots slots) {
  return static_cast<std::size_t>(
      std::ranges::count_if(claimants, [&](const Claimant& one) { return take(one, slots); }));
}

FreeSlots without(FreeSlots slots, const Gpu& gpu, int count) {
  const auto refused = std::ranges::find(slots.refused, gpu.id, &RefusedGpu::id);
  SlotsByHost& counted =
      gpu.dedicated_to.empty() ? slots.shared : slots.dedicated[gpu.dedicated_to];
  const bool local = gpu.source == Source::local && !gpu.host.empty();
  int& free = refused != slots.refused.end() ? refused->free
              : local                        ? counted.of_host[gpu.host]
                                             : counted.anywhere;
  free -= count;
  return slots;
}

double start_tag(double virtual_time, double tenant_finish) {
  return std::max(virtual_time, tenant_finish);
}

double finish_tag(double start, double weight) {
  constexpr double k_least_weight = 1e-3;
  return start + 1 / std::max(weight, k_least_weight);
}

}  // namespace navtalk
