// What each tenant should have of the slots at this moment: weighted max-min over what it has running and released, and
// over what it has had lately. So a tenant that floods gives way to those that have had less than it, as long as they
// have. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/jobs/shares/slot_history.h"
#include "scheduler/jobs/shares/tenant_terms.h"

namespace navtalk {

// A slot that a tenant has had for SlotHistory::k_memory counts as so many that it has now: what it had in the last hour
// is weighed against the next half hour. Where all want more, each has its part of that time.
inline constexpr double k_past_weight = 2;

// Jobs of one tenant.
struct SlotUse {
  TenantTerms terms{};
  std::int64_t running = 0, waiting = 0;
  SlotHistory history{};
};

// Whether a tenant has less than its part. Parts are sums of fractions: what is within their rounding is not less.
bool below_part(std::int64_t running, double part);

// Of so many slots; one part for each tenant, in their order. They are no whole numbers.
std::vector<double> slot_parts(std::span<const SlotUse> uses, std::int64_t slots);

}  // namespace navtalk
