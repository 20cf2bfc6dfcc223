#include <algorithm>
#include <utility>

#include "scheduler/jobs/shares/charges.h"
#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/first_jobs.h"
#include "scheduler/jobs/shares/share_tables.h"

namespace navtalk {
namespace {

// As if the slot that is to be given were one of those in use.
void compare_with_parts(Transaction& transaction, const TenantTermsTable& fixed,
                        std::vector<FirstJob>& first) {
  if (first.size() < 2) return;
  std::vector<TenantId> tenants;
  std::vector<SlotUse> uses;
  std::int64_t slots = 1;
  for (const auto& [tenant, use] : slot_uses(transaction, fixed)) {
    tenants.push_back(tenant);
    uses.push_back(use);
    slots += use.running;
  }
  const std::vector<double> parts = slot_parts(uses, slots);
  for (FirstJob& one : first) {
    const auto found = std::ranges::lower_bound(tenants, one.line.tenant);
    if (found == tenants.end() || *found != one.line.tenant) continue;
    const auto index = static_cast<std::size_t>(found - tenants.begin());
    one.candidate.below = below_part(uses[index].running, parts[index]);
  }
}

}  // namespace

ClaimOrder by_shares(TenantTermsTable fixed) {
  return [fixed = std::move(fixed)](Transaction& transaction) -> std::optional<std::int64_t> {
    std::vector<FirstJob> first = first_jobs(transaction, fixed);
    compare_with_parts(transaction, fixed, first);
    std::vector<ClaimCandidate> candidates;
    candidates.reserve(first.size());
    for (const FirstJob& one : first) candidates.push_back(one.candidate);
    VirtualTimes times = virtual_times(transaction);
    const auto chosen = choose(candidates, times, transaction.now);
    if (!chosen) return std::nullopt;
    FirstJob& one = first[*chosen];
    one.line.place = place_after(one.candidate, one.work, times);
    write_place(transaction, one.line);
    charge_claim(transaction, one.candidate.job, one.work);
    return one.candidate.job;
  };
}

}  // namespace navtalk
