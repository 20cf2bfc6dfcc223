// What each tenant should have of the slots at this moment: weighted max-min over what it has running and released. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/jobs/shares/tenant_terms.h"

namespace navtalk {

// Jobs of one tenant.
struct SlotUse {
  TenantTerms terms{};
  std::int64_t running = 0, waiting = 0;
};

// Whether a tenant has less than its part. Parts are sums of fractions: what is within their rounding is not less.
bool below_part(std::int64_t running, double part);

// Of so many slots; one part for each tenant, in their order. They are no whole numbers.
std::vector<double> slot_parts(std::span<const SlotUse> uses, std::int64_t slots);

}  // namespace navtalk
