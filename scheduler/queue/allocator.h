// Assigns slots to users: claims a free one; if there is none, queues the user and has a GPU woken or
// created; if the queue is off or full, refuses. It never waits for a GPU and never talks to a worker:
// the gateway connects to the worker that a lease names, and reports the result. Thread-safe; a call
// takes one or two transactions of the store.
//
//   arrive ──► Lease ──connect──► connected()    the next GPU is prepared
//      │                 └──────► unclaim(), then check() again, and judge()
//      ├────► Waiting ──something changed──► check() ... Lease
//      └────► NoGpu                              the queue is off or full
//
// A session that fails says little about its worker. The gateway asks the worker, and judge() decides
// about the GPU:
//
//   the worker answers well       the fault counts as evidence (scheduler/pool/faults/session_verdict.h); a
//                                 GPU that is to blame fails, unless a session lives on there
//   its process is gone           on loopback, where nothing refuses a connection but the system when
//                                 nobody listens: the GPU fails; an external one returns by itself
//   anything else, silence too    one more miss of its row; the prober fails it after its grace time
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/guarded.h"
#include "scheduler/forecast/demand_tracker.h"
#include "scheduler/pool/faults/session_verdict.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/supply.h"
#include "scheduler/queue/kept_places.h"

namespace navtalk {

struct Waiting {
  std::size_t position = 0;       // 1 is the head; see KeptPlaces
  std::optional<Duration> eta{};  // from now, at the 90th percentile; missing: not known
  TimePoint since{};              // when the user came
  bool withdrawn = false;         // operators keep every GPU back (withdrawn.h)
};
struct NoGpu {
  std::string message;
  std::optional<Duration> retry_after{};  // missing: not known, since operators keep every GPU back
  bool tenant_limit = false;              // the tenant has as many users in the queue as it may
};
using Allocation = std::variant<Lease, Waiting, NoGpu>;

// Sessions that failed on one GPU, and what its worker said when it was asked after that.
struct WorkerReport {
  enum class Answer : std::uint8_t { well, unwell, gone };
  GpuId gpu{};
  Answer answer = Answer::well;
  std::string why_unwell{};
  std::vector<SessionFault> faults{};  // their source and time are filled in
  std::string last_fault{};            // in words
};

struct AllocatorOptions {
  std::string gateway;  // unique to this process: this_process()
  std::string host;     // local GPUs of this host only
  // 0: no queue. Users wait for slots that are lent all the same: those are back within seconds.
  std::size_t queue_limit = 100;
  Duration queue_timeout = std::chrono::minutes(5);
  // The time without a renewal that ends a lease or a place in the queue.
  Duration lease = std::chrono::seconds(30);
  FaultRules faults{};
};

class Allocator {
 public:
  Allocator(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
            AllocatorOptions options);

  // Gateway and host of the claimant are filled in.
  Allocation arrive(Claimant claimant);
  // For a claimant that is waiting. NoGpu after the queue's timeout, which removes it from the queue.
  // One that refuses the free slots keeps its place; those behind it may have these.
  Allocation check(Claimant claimant);
  // A slot for offline work, of those that users leave free; NoGpu without one. No GPU is woken or
  // created for it.
  Allocation borrow(Claimant claimant);
  // The worker accepted the session. Prepares the next GPU: call it once the user is served.
  void connected(const Lease& lease);
  // The worker did not: the slot is free again, and the user counts as one who has not come yet.
  void unclaim(const Lease& lease);
  void leave(const WaiterId& waiter);
  void release(const Lease& lease);
  // As release, of a user who asks for another GPU; returns Claimant::lost_gpu_at.
  TimePoint release_lost(const Lease& lease);
  // Call it once the slots of the sessions are free.
  void judge(const WorkerReport& report);
  // A session of that client is over that lasted (FaultRules::lasting); `cut`: it was cut in the end.
  void session_lasted(const Lease& lease, const std::string& client, bool cut);
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
  // In the queue, its position; nullopt: there is none for it.
  std::optional<std::size_t> take_place(const Claimant& claimant);
  Duration patience() const;  // of a place in it
  Allocation waiting(const Claimant& claimant);
  std::optional<NoGpu> timed_out(const WaiterId& waiter, TimePoint since, const PoolView& view);
  std::shared_ptr<const PoolView> recent_view();
  std::optional<Duration> eta(const PoolView& view, std::size_t position);
  void promise(const Claimant& claimant, std::optional<Duration> eta);
  bool at_its_limit(const Claimant& claimant);  // its tenant
  NoGpu full(const Claimant& claimant);
  // --- judge_worker.cpp
  void judge_unwell(const Gpu& row, const WorkerReport& report);
  void update_faults(Origin origin, const std::vector<LastedSession>& living,
                     const std::function<void(SessionFaults&)>& change);
  void fail_gpu(const GpuId& gpu, const std::string& why);

  PoolStore& store_;
  Supply& supply_;
  DemandTracker& demand_tracker_;
  AllocatorOptions options_;
  Guarded<CachedView> cached_;
  Guarded<std::map<WaiterId, TimePoint>> promised_;  // when each waiter's last promise was recorded
  KeptPlaces kept_places_;
};

}  // namespace navtalk
