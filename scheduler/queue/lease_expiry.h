// Ends the leases, and the places in the queue, of gateways that stopped renewing. A missing renewal
// proves nothing while nobody could write to the store: the first process that reaches it again must
// not end what the others hold. So whoever calls expire_stale() leaves a watch mark in the store:
//
//   mark ── mark ── mark ─ ─ (no store) ─ ─ mark ── mark ──► from here on stale leases expire: every
//                                           └── half a lease ──┘   living gateway could have renewed
//
// What a dead process of this host held ends at once.
#pragma once

#include <stop_token>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// Call it every second or so. `lease`: the time without a renewal that ends a lease; gateways renew
// every third of it. Returns the leases that were ended.
std::vector<Lease> expire_stale(PoolStore& store, Duration lease);
// The same for a process that runs now and then (a timer's tick), where no other process watches all
// the time. If a lease is stale, it stays for half a lease, a minute at most, and leaves marks: a
// gateway that reaches the store later than the caller can still renew. A stop request ends the wait,
// and expires nothing.
std::vector<Lease> expire_stale_if_unwatched(PoolStore& store, Duration lease,
                                             const std::stop_token& stop);

}  // namespace navtalk
