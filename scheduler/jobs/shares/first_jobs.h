// What a claim chooses among: of each tenant the first job that waits, and what it has of the slots. Within the caller's
// transaction.
#pragma once

#include <map>
#include <vector>

#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/slot_parts.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct FirstJob {
  TenantLine line{};
  ClaimCandidate candidate{};
  VideoMinutes work{};  // that is left
};

// Of tenants that may have another one running. `fixed` as TenantStore's.
std::vector<FirstJob> first_jobs(Transaction& transaction, const TenantTermsTable& fixed);

// Of the tenants that have jobs running or released. Those that wait for a time do not count.
std::map<TenantId, SlotUse> slot_uses(Transaction& transaction, const TenantTermsTable& fixed);

// Of all plans that have had a job.
VirtualTimes virtual_times(Transaction& transaction);

}  // namespace navtalk
