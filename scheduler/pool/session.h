// Users who ask for slots, and the leases that they get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/pool/origin.h"

namespace navtalk {

// Who holds a slot: a user's session, or offline work on what users leave, which gives it back when one
// waits.
enum class Lane : std::uint8_t { live = 0, batch = 1 };

// A user who wants a slot. In the queue it is a waiter under the same id.
struct Claimant {
  WaiterId id;
  TenantId tenant{};
  int plan = 0;           // higher is served first
  double weight = 1;      // the tenant's share among equals
  std::string gateway{};  // the process that speaks with the user
  int max_sessions = 0;   // the tenant's bound; 0: none
  // batch: it never waits in the queue, gets a slot only while no user waits, and counts as no demand.
  Lane lane = Lane::live;
  // The gateway's. A local GPU serves gateways of its own host only, because its worker listens on
  // loopback. Empty: local GPUs of any host.
  std::string host{};
  // GPUs on which its session has just failed: it gets no slot there. The queue keeps those of the last
  // claim, so that waiters behind it may have such a slot, and no other one that it could use.
  std::vector<GpuId> refuse{};
  // --- of this request alone; the queue does not keep it
  int keep_free =
      0;  // of a batch claim: slots that stay free for users beside the one that it gets
  int max_waiting = -1;  // the tenant's users in the queue, this one included; below 0: no bound
  // GPUs on which its session has just failed: only if no other is at hand.
  std::vector<GpuId> avoid{};
  // When it first came, of one that had a place or a slot and lost it by no fault of its own. It
  // enters the queue there again, whatever the queue's limit.
  std::optional<TimePoint> came_at{};
  // When its session lost its GPU: it may wait from then on for as long as anybody.
  std::optional<TimePoint> lost_gpu_at{};
};

// One slot of one GPU, held by one session. The worker refuses a lower epoch on the same slot.
struct Lease {
  LeaseId id;
  GpuId gpu;
  int slot = 0;  // 0 .. slots-1
  Lane lane = Lane::live;
  std::uint64_t epoch = 0;
  TenantId tenant{};
  std::string gateway{};
  std::string url{};  // the worker's, at the time of the claim
  Origin origin = Origin::local;
  std::string worker{};    // its name (scheduler/pool/identity.h)
  TimePoint arrived_at{};  // when the user came: the wait is claimed_at - arrived_at
  TimePoint claimed_at{};
  TimePoint until{};  // expires unless renewed before

  friend bool operator==(const Lease&, const Lease&) = default;
};

struct Waiter {
  Claimant claimant;
  TimePoint arrived_at{};
  TimePoint until{};         // expires unless renewed before
  double tag = 0;            // weighted fair queueing: start tag within its plan
  std::size_t position = 0;  // 1 is the head
};

}  // namespace navtalk
