// The queue's tables: `waiters` in order of service, and the fair share of tenants. Stateless; all
// within the caller's transaction. A waiter past its time is passed over until expire() removes it.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/pool/session.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// A waiter with its position in the order: plan, highest first; tag; number of arrival.
struct QueuedWaiter {
  Waiter waiter;
  std::int64_t number = 0;
};

std::vector<Waiter> live_waiters(Transaction& transaction);  // positions filled in
std::optional<QueuedWaiter> find_waiter(Transaction& transaction, const WaiterId& id);
// The position that the claimant would get now: behind all equals, or, if it came before, ahead of
// those of its tenant who came later.
QueuedWaiter prospective_position(Transaction& transaction, const Claimant& claimant);
std::vector<Claimant> live_waiters_before(Transaction& transaction, const QueuedWaiter& position);
std::size_t live_waiter_count(Transaction& transaction);
std::size_t live_waiter_count(Transaction& transaction, const TenantId& tenant);

// Inserts it at its prospective position.
QueuedWaiter insert_waiter(Transaction& transaction, const Claimant& claimant, TimePoint until);
void renew_waiter(Transaction& transaction, const WaiterId& id, TimePoint until);
// Claimant::refuse, of a waiter.
void set_refusals(Transaction& transaction, const Claimant& waiter);
// Served: the plan's virtual time moves on. Not served: the tenant gets its share back where the
// waiter was its last one.
void remove_waiter(Transaction& transaction, const QueuedWaiter& waiter, bool served);
std::vector<QueuedWaiter> expired_waiters(Transaction& transaction);

}  // namespace navtalk
