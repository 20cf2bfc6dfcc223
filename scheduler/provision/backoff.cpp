#include "scheduler/provision/backoff.h"

#include <algorithm>

namespace navtalk {

Hindrance resting(const LeadTime& lead, const Policy& policy, TimePoint now) {
  if (lead.failures_in_row > 0) {
    const int doublings = std::min(lead.failures_in_row - 1, 20);
    const Duration rest =
        std::min(Duration(policy.back_off * (1LL << doublings)), policy.back_off_most);
    // Three in a row are no accident: people should hear of it, not of missing capacity.
    if (now < lead.last_failure + rest) {
      return lead.failures_in_row >= 3 ? Hindrance::crash_loop : Hindrance::failed_hold;
    }
  }
  const bool full =
      lead.no_capacity_in_row > 0 && now < lead.last_failure + policy.no_capacity_wait;
  return full ? Hindrance::no_capacity : Hindrance::none;
}

bool may_be_asked(const Demand& demand, Source source, Operation operation,
                  std::span<const Gpu> gpus, TimePoint now) {
  const LeadTime& lead =
      operation == Operation::wake ? demand.wake_at(source) : demand.create_at(source);
  if (resting(lead, {}, now) != Hindrance::none) return false;
  const auto tried = [&](const Gpu& gpu) {
    if (gpu.source != source || gpu.state != State::starting) return false;
    // Room was found when the call was answered; that it works, only when it is ready.
    return lead.failures_in_row > 0 || gpu.intent.operation == operation;
  };
  const bool failed = lead.failures_in_row > 0 || lead.no_capacity_in_row > 0;
  return !failed || std::none_of(gpus.begin(), gpus.end(), tried);
}

}  // namespace navtalk
