#include "scheduler/provision/backoff.h"

#include <algorithm>

namespace navtalk {

BlockedBy backoff(const LeadTime& lead, const ScalingLimits& limits, TimePoint now) {
  if (lead.failures_in_row > 0) {
    const int doublings = std::min(lead.failures_in_row - 1, 20);
    const Duration wait =
        std::min(Duration(limits.back_off * (1LL << doublings)), limits.back_off_most);
    // Three in a row are a crash loop; people should not look for missing capacity instead.
    if (now < lead.last_failure + wait) {
      return lead.failures_in_row >= 3 ? BlockedBy::crash_loop : BlockedBy::failed_hold;
    }
  }
  const bool full =
      lead.no_capacity_in_row > 0 && now < lead.last_failure + limits.no_capacity_wait;
  return full ? BlockedBy::no_capacity : BlockedBy::none;
}

bool may_retry(const Demand& demand, Source source, Operation operation, std::span<const Gpu> gpus,
               TimePoint now) {
  const LeadTime& lead =
      operation == Operation::wake ? demand.wake_at(source) : demand.create_at(source);
  if (backoff(lead, {}, now) != BlockedBy::none) return false;
  const auto trying = [&](const Gpu& gpu) {
    if (gpu.source != source || gpu.state != State::starting) return false;
    // Capacity is proven by the provider's answer, a working GPU only when it is ready.
    return lead.failures_in_row > 0 || gpu.intent.operation == operation;
  };
  const bool failed = lead.failures_in_row > 0 || lead.no_capacity_in_row > 0;
  return !failed || std::none_of(gpus.begin(), gpus.end(), trying);
}

}  // namespace navtalk
