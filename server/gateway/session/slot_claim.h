// One user's claim on the pool, and what the store must still hear of it. The store is called on
// the blocking threads, everything else is of the I/O thread.
//
//   none ──arrive()──► queued ──check()──► leased ──release()──► none
//                        ▲                   │
//                        └── give_up(), drop_lease(), lose_gpu() ──┘
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <vector>

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
  // `who`: the tenant and its limits; the claim gives it an id.
  SlotClaim(Allocator& allocator, BlockingThreads& threads, Signal& changed, Claimant who);
  SlotClaim(const SlotClaim&) = delete;
  SlotClaim& operator=(const SlotClaim&) = delete;

  const WaiterId& id() const { return claimant_.id; }
  const std::optional<Lease>& lease() const { return lease_; }
  // Of the last lease, a little too long rather than too short: the store was asked for it then.
  Signal::Clock::duration age() const { return Signal::Clock::now() - asked_at_; }
  // The store gave the lease's slot to somebody else.
  bool lease_lost() const { return lease_lost_; }
  // Since when the store may hold a lease of this claim that the claim does not know: a question is
  // under way, or the last one failed. nullopt: it knows all.
  const std::optional<Signal::Clock::time_point>& unsettled_since() const {
    return unsettled_since_;
  }

  // A slot, a place in the queue, or neither. A lease in the answer is this claim's from then on.
  Awaitable<Allocation> arrive();
  Awaitable<Allocation> check();
  // A slot for offline work, or none.
  Awaitable<Allocation> borrow();
  // The user has been served: the pool prepares the next GPU. Does not wait for that.
  void served();

  // Two ends of a lease whose user still waits. The first one frees the slot; if the store does not
  // answer, the lease stays, and the next check() returns it again.
  Awaitable<void> give_up();
  void drop_lease() { lease_.reset(); }  // it was lost
  // The GPU of a session that has begun is lost: the lease is to end, and the claim asks for another
  // one, ahead of those who came after the user.
  void lose_gpu();
  bool must_end_lease() const { return ending_.has_value(); }
  // Error{failed} when the store does not answer: it must still end.
  Awaitable<void> end_lease();
  // For a second no slot of that GPU is accepted; longer, up to 8 s, when it happens again.
  void refuse(const GpuId& gpu);
  // Slots of these are accepted only where no other is free.
  void avoid(std::vector<GpuId> gpus) { claimant_.avoid = std::move(gpus); }

  void mark_lease_lost();

  // What the store must still hear, as a call that blocks; empty: nothing.
  std::function<void()> pending_release() const;
  // Makes that call. Tries again for as long as a lease lasts, since a slot that nobody releases
  // is lost to everybody. Throws nothing.
  Awaitable<void> release();

 private:
  Awaitable<Allocation> ask(Allocation (Allocator::*question)(Claimant));

  Allocator& allocator_;
  BlockingThreads& threads_;
  Signal& changed_;
  Claimant claimant_{};
  bool arrived_ = false;  // the store may know the claimant
  std::optional<Lease> lease_{};
  Signal::Clock::time_point asked_at_{};  // for the last lease
  bool lease_lost_ = false;
  std::optional<Lease> ending_{};  // of a GPU that was lost
  std::optional<Signal::Clock::time_point> unsettled_since_{};
  struct Refusal {
    Signal::Clock::time_point until{};
    Signal::Clock::duration lasts{};
  };
  std::map<GpuId, Refusal> refusals_{};
};

}  // namespace navtalk::server
