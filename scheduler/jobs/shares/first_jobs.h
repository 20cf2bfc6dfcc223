// What a claim chooses among: what each tenant has of the slots and how many jobs it has that wait, and the first of these.
// Within the caller's transaction.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/flood_headroom.h"
#include "scheduler/jobs/shares/slot_parts.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// The tenants that have jobs running or released, by name; those that wait for a time do not count.
struct LaneUse {
  std::vector<TenantId> tenants{};
  std::vector<SlotUse> uses{};      // in their order
  std::vector<FairPlace> places{};  // in their order
  VirtualTimes times{};             // of all plans that have had a job
  FloodHeadroom headroom{};         // as the last turn said

  // Jobs of all tenants.
  std::int64_t running() const;
  // The tenant's index.
  std::optional<std::size_t> find(const TenantId& tenant) const;
};

// In one query, however many tenants there are. `fixed` as TenantStore's.
LaneUse lane_use(Transaction& transaction, const TenantTermsTable& fixed);

// Of tenants that may have another job running now, without when their jobs were released. `order` is the tenant's index.
std::vector<ClaimCandidate> candidates_of(const LaneUse& lane, TimePoint now);

// The tenant's first claimable job.
std::optional<Job> first_job_of(Transaction& transaction, const TenantId& tenant);

// Of each tenant that has a claimable one, when its first was released.
std::map<TenantId, TimePoint> first_releases(Transaction& transaction);

}  // namespace navtalk
