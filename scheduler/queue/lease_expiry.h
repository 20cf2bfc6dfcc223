// Ends the sessions, and the places in the queue, of gateways that fell silent. But silence proves
// nothing while nobody could write to the store: whoever comes back first must not end what the
// others hold. So those who look leave a mark in the store:
//
//   mark ── mark ── mark ─ ─ (no store) ─ ─ mark ── mark ──► from here on, after a chance for every
//                                                            gateway to give its signs of life
//
// What a process of this host held that is gone ends at once.
#pragma once

#include <stop_token>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// Call it every second or so. `lease`: the time of silence that ends a lease; gateways give their
// signs of life every third of it. The leases that were ended.
std::vector<Lease> end_silent(PoolStore& store, Duration lease);
// The same for one who looks but now and then, where nobody else looks all the time. Where
// a lease is silent it stays for half of one, a minute at most, and leaves marks: who comes back
// with the store, later than the caller, has its chance too. A stop ends that, and nothing else.
std::vector<Lease> end_silent_if_unwatched(PoolStore& store, Duration lease,
                                           const std::stop_token& stop);

}  // namespace navtalk
