#include "scheduler/jobs/shares/slot_parts.h"

#include <algorithm>

#include "scheduler/jobs/shares/fair_shares.h"

namespace navtalk {

bool below_part(std::int64_t running, double part) {
  constexpr double k_rounding = 1e-9;
  return static_cast<double>(running) < part - k_rounding;
}

std::vector<double> slot_parts(std::span<const SlotUse> uses, std::int64_t slots) {
  std::vector<ShareClaim> claims;
  claims.reserve(uses.size());
  for (const SlotUse& use : uses) {
    std::int64_t jobs = use.running + use.waiting;
    if (use.terms.max_running > 0) jobs = std::min<std::int64_t>(jobs, use.terms.max_running);
    claims.push_back({.plan = use.terms.plan,
                      .weight = use.terms.weight,
                      .demand = static_cast<double>(jobs),
                      .had = k_past_weight * use.history.slots});
  }
  return fair_shares(static_cast<double>(slots), claims);
}

}  // namespace navtalk
