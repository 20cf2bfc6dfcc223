// The queue's tables: `waiters` in order of service, and the fair share of tenants. Stateless; all
// within the caller's transaction. A waiter whose gateway fell silent is passed over until expire()
// removes it.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/pool/session.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// A waiter with its place in the order: plan, highest first; tag; number of arrival.
struct QueuedWaiter {
  Waiter waiter;
  std::int64_t number = 0;
};

std::vector<Waiter> live_waiters(Transaction& transaction);  // positions filled in
std::optional<QueuedWaiter> find_waiter(Transaction& transaction, const WaiterId& id);
// The place that the claimant would get now, behind all equals.
QueuedWaiter prospective_place(Transaction& transaction, const Claimant& claimant);
std::vector<Claimant> live_waiters_before(Transaction& transaction, const QueuedWaiter& place);
std::size_t live_waiter_count(Transaction& transaction);

// Puts it in at its prospective place.
QueuedWaiter insert_waiter(Transaction& transaction, const Claimant& claimant, TimePoint until);
void keep_waiter_until(Transaction& transaction, const WaiterId& id, TimePoint until);
// Served: the plan's virtual time moves on. Not served: the tenant gets its share back where the
// waiter was its last one.
void remove_waiter(Transaction& transaction, const QueuedWaiter& waiter, bool served);
std::vector<QueuedWaiter> silent_waiters(Transaction& transaction);

}  // namespace navtalk
