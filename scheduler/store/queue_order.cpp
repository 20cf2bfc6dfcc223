#include "scheduler/store/queue_order.h"

#include <algorithm>

namespace navtalk {
namespace {

// Takes a slot for the claimant; false when it cannot have one.
bool take(const Claimant& claimant, FreeSlots& slots) {
  int& held = slots.held[claimant.tenant];
  if (claimant.max_sessions > 0 && held >= claimant.max_sessions) return false;
  const auto own = slots.dedicated.find(claimant.tenant);
  int& from = own != slots.dedicated.end() && own->second > 0 ? own->second : slots.shared;
  if (from <= 0) return false;
  --from;
  ++held;
  return true;
}

}  // namespace

bool reaches(const std::vector<Claimant>& ahead, const Claimant& claimant, FreeSlots slots) {
  for (const Claimant& other : ahead) take(other, slots);
  return take(claimant, slots);
}

double start_tag(double virtual_time, double tenant_finish) {
  return std::max(virtual_time, tenant_finish);
}

double finish_tag(double start, double weight) {
  constexpr double k_least_weight = 1e-3;
  return start + 1 / std::max(weight, k_least_weight);
}

}  // namespace navtalk
