// One user's claim on the pool, and what the store must still hear of it. The store is called on
// the blocking threads, everything else is of the I/O thread.
//
//   none ──arrive()──► queued ──check()──► leased ──release()──► none
//                        ▲                   │
//                        └── give_up(), fail_worker(), drop_lease() ──┘
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"

namespace navtalk::server {

class SlotClaim {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // `changed` is notified when the lease is lost.
  SlotClaim(PoolStore& store, Allocator& allocator, BlockingThreads& threads, Signal& changed);
  SlotClaim(const SlotClaim&) = delete;
  SlotClaim& operator=(const SlotClaim&) = delete;

  const WaiterId& id() const { return claimant_.id; }
  const std::optional<Lease>& lease() const { return lease_; }
  // The store gave the lease's slot to somebody else.
  bool lease_lost() const { return lease_lost_; }

  // A slot, a place in the queue, or neither. A lease in the answer is this claim's from then on.
  Awaitable<Allocation> arrive();
  Awaitable<Allocation> check();
  // The user has been served: the pool prepares the next GPU. Does not wait for that.
  void served();

  // Three ends of a lease whose user still waits. If the store does not answer the first two, the
  // lease stays: the next check() returns it again.
  Awaitable<void> give_up();                     // the worker is well, and its slot free
  Awaitable<void> fail_worker(std::string why);  // the GPU is marked failed
  void drop_lease() { lease_.reset(); }          // it was lost

  // The lease's worker was lost in the session; release() marks the GPU failed.
  void worker_lost(std::string why) { worker_lost_ = std::move(why); }
  void mark_lease_lost();

  // What the store must still hear, as a call that blocks; empty: nothing.
  std::function<void()> pending_release() const;
  // Makes that call. Tries again for as long as a lease lasts, since a slot that nobody releases
  // is lost to everybody. Throws nothing.
  Awaitable<void> release();

 private:
  Awaitable<Allocation> ask(Allocation (Allocator::*question)(Claimant));

  PoolStore& store_;
  Allocator& allocator_;
  BlockingThreads& threads_;
  Signal& changed_;
  Claimant claimant_{};
  bool arrived_ = false;  // the store may know the claimant
  std::optional<Lease> lease_{};
  bool lease_lost_ = false;
  std::string worker_lost_{};  // why; empty: it was not
};

}  // namespace navtalk::server
