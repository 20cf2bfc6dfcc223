// Assigns slots to users: claims one, else queues the user and makes a GPU come (wake, else create),
// else refuses. It never waits for a GPU and never talks to a worker: the gateway connects to the
// worker that a lease names and reports the result. Thread-safe; a call takes one or two transactions
// of the store.
//
//   arrive ──► Lease ──connect──► connected()        the next GPU is prepared
//      │                 └──────► connect_failed()   the GPU is failed, a replacement started;
//      │                                             then check() again
//      ├────► Waiting ──something changed──► check() ... Lease
//      └────► NoGpu                                  the queue is off or full
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>

#include "core/base/guarded.h"
#include "scheduler/forecast/demand_tracker.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/supply.h"

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
  std::string gateway;            // unique to this process: this_process()
  std::string host;               // local GPUs of this host only
  std::size_t queue_limit = 100;  // 0: no queue
  Duration queue_timeout = std::chrono::minutes(5);
  // The time without a renewal that ends a lease or a place in the queue.
  Duration lease = std::chrono::seconds(30);
};

class Allocator {
 public:
  Allocator(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
            AllocatorOptions options);

  // Gateway and host of the claimant are filled in.
  Allocation arrive(Claimant claimant);
  // For a claimant that was told to wait. NoGpu after the queue's timeout, which removes it from the
  // queue.
  Allocation check(Claimant claimant);
  // The worker accepted the session. Prepares the next GPU: call it once the user is served.
  void connected(const Lease& lease);
  // The worker did not: undoes the claim, marks the GPU failed, starts a replacement. Does nothing for
  // an expired lease: the slot may be leased again.
  void connect_failed(const Lease& lease, const std::string& why);
  void leave(const WaiterId& waiter);
  void release(const Lease& lease);
  // The worker was lost during a session: as connect_failed, but the session counts as demand.
  void worker_lost(const Lease& lease, const std::string& why);
  // Something changed in the pool: the view that serves the waiters is out of date.
  void invalidate_view();
  // Renews all of this gateway's leases and waiters. Call it every third of the lease time.
  Renewal renew();

  const AllocatorOptions& options() const { return options_; }

 private:
  struct CachedView {
    TimePoint at{};
    std::shared_ptr<const PoolView> view;
  };

  Claimant complete(Claimant claimant) const;
  Allocation waiting(const Claimant& claimant);
  std::shared_ptr<const PoolView> recent_view();
  std::optional<Duration> eta(const PoolView& view, std::size_t position);
  void promise(const Claimant& claimant, std::optional<Duration> eta);
  void fail_gpu(const Lease& lease, const std::string& why);

  PoolStore& store_;
  Supply& supply_;
  DemandTracker& demand_tracker_;
  AllocatorOptions options_;
  Guarded<CachedView> cached_;
  Guarded<std::map<WaiterId, TimePoint>> promised_;  // when each waiter's last promise was recorded
};

}  // namespace navtalk
