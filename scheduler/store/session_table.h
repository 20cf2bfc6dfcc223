// Rows of the table `sessions` (open leases), and the demand that they leave behind. Stateless; all
// within the caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/session.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

std::vector<Lease> all_leases(Transaction& transaction);
std::vector<Lease> expired_leases(Transaction& transaction);
std::optional<Lease> lease_of(Transaction& transaction, const WaiterId& claimant);
std::optional<Lease> find_lease(Transaction& transaction, const LeaseId& id);
int sessions_of(Transaction& transaction, const TenantId& tenant);
int lowest_free_slot(Transaction& transaction, const GpuId& gpu);
void insert_lease(Transaction& transaction, const Lease& lease, const WaiterId& claimant);
// Deletes the row and frees the slot on its GPU, which it returns as it was before. The caller counts the
// demand.
Gpu end_lease(Transaction& transaction, const Lease& lease, const Cause& cause);

// Of a user who came then. What is taken back was counted with the same time.
void count_arrival(Transaction& transaction, TimePoint arrived_at);
void uncount_arrival(Transaction& transaction, TimePoint arrived_at);
// Of a session that ended now: its demand, and what its tenant used of the GPU.
void count_end(Transaction& transaction, const Lease& lease, const Gpu& gpu);

}  // namespace navtalk
