// preemptions() of what a store holds. Stateless; within the caller's transaction.
#pragma once

#include <string>
#include <vector>

#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// See TenantStore::preemptions(). `fixed`: as by_shares().
std::vector<JobPreemption> preemptions_in(Transaction& transaction, const TenantTermsTable& fixed,
                                          const std::string& worker, bool lacks_slot,
                                          const PreemptionRules& rules);

}  // namespace navtalk
