// Gets users their slots: claim, else see that a GPU comes (wake, else create), else queue, else
// refuse. It never waits for a GPU and never speaks with a worker: the gateway connects to the
// worker that a lease names and reports how that went. Thread-safe; calls take one or two
// transactions of the store.
//
//   arrive ──► Lease ──connect──► connected()        the next GPU is prepared
//      │                 └──────► connect_failed()   the GPU is failed, a replacement started;
//      │                                             then check() again
//      ├────► Waiting ──something changed──► check() ... Lease
//      └────► NoGpu                                  the queue is off or full
#pragma once

#include <string>
#include <variant>

#include "scheduler/pool_store.h"

namespace navtalk {

struct Waiting {
  std::size_t position = 0;       // 1 is the head
  std::optional<Duration> eta{};  // from now, at the 90th percentile; missing: not known
};
struct NoGpu {
  std::string message;
  Duration retry_after{};
};
using Allocation = std::variant<Lease, Waiting, NoGpu>;

struct AllocatorOptions {
  std::string gateway;            // unique to this process
  std::size_t queue_limit = 100;  // 0: no queue
  Duration queue_timeout = std::chrono::minutes(5);
  Duration lease = std::chrono::seconds(30);  // silence that ends a lease or a place in the queue
  int slots_per_gpu = 1;
  int prepare_free_slots = 1;  // free slots (starting ones count) that are enough
};

class Supply;  // makes GPUs come: scheduler/supply.h

class Allocator {
 public:
  Allocator(PoolStore& store, Supply& supply, AllocatorOptions options);

  Allocation arrive(const Claimant& claimant);
  // For a claimant that was told to wait. NoGpu after the queue's timeout; it is out of the queue
  // then.
  Allocation check(const Claimant& claimant);
  // The worker took the session.
  void connected(const Lease& lease);
  // It did not: gives the slot back, marks the GPU failed, starts a replacement.
  void connect_failed(const Lease& lease, const std::string& why);
  void leave(const WaiterId& waiter);
  void release(const Lease& lease);
  // Every third of the lease time: signs of life for all of this gateway's leases and waiters.
  Renewal renew();

 private:
  PoolStore& store_;
  Supply& supply_;
  AllocatorOptions options_;
};

}  // namespace navtalk
