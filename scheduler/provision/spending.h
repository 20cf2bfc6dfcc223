// The cap on spending (pool.max_usd_per_hour) where a provider's prices meet it. The cap holds the sum
// over all rows that are not paused, failed and stopping ones included, since their pods cost too.
// The store checks it in the transaction of each change here.
//
//   before a create is sent         reserve_price()     the row carries the price that is expected
//   when the answer tells another   hold_to_cap()       within the cap it counts; beyond it the GPU
//                                                       is recorded and destroyed again
//   then                            remember_price()    the next create of that type expects it
//   when a price is told later,     record_price()      it counts at once; what does not fit in any
//     by a look-up or a list                            more is given up (over_cap.h)
//
// Stateless.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

// Writes the price into the row of that create. False: the cap forbids it, or the row has another
// intent by now.
bool reserve_price(PoolStore& store, const Gpu& gpu, double usd_per_hour, double max_usd_per_hour);

// For a change that records the true price of a GPU that was just created or woken. Beyond the cap it
// also asks for the destruction, with the reason as last error, and returns true. Within it, the
// store checks the cap again with the change. GPUs that are being destroyed do not count here: else
// one that is too expensive would take others with it. No cap, or no price: false.
bool hold_to_cap(PoolStore& store, const Gpu& row, double max_usd_per_hour, GpuChange& change);

// Writes the price that the provider tells of a GPU that exists, whatever the cap says, and remembers
// it if it is higher than the row's. False: the row had that price, has another instance, or is gone.
bool record_price(PoolStore& store, const GpuId& id, const Instance& instance, const Cause& cause);

// A GPU of that type cost more than was expected: counts for an hour, in every process.
void remember_price(PoolStore& store, const std::string& device, double usd_per_hour);
// What is remembered of that type; 0: nothing.
double remembered_price(PoolStore& store, const std::string& device);

}  // namespace navtalk
