// The batch lane: divides what its GPUs render between the tenants, releases jobs, and says how many
// slots they want. Any number of processes may share a store and take turns. One thread at a time.
//
//   finished jobs ──► learnt rate ──► TenantStore::divide(): shares, releases, promises
//   slots that users leave now ──────────┘ and what is kept free from a flood
//   work that waits ──► demand_after() ──► OfflineDemand ──► the scaler's target
//                           └─ from none ──► Supply starts the first GPU at once
//   GPUs that serve and start ──► LaneSupply ──► promises
#pragma once

#include <span>
#include <string>

#include "scheduler/forecast/demand_tracker.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/provision/supply.h"

namespace navtalk {

struct BatchLaneOptions {
  std::string who;    // for events: "gateway host:pid"
  int max_gpus = 1;   // slots that work may have besides what users leave; 0: it starts no GPU
  int reserve = 0;    // slots that users leave free, and lend
  int keep_free = 0;  // slots that are not lent
  // Of this host's devices. Without a cloud the lane counts on no more slots than these, or than the pool has, less those of users.
  int local_slots = 1;
  Source grows_at = Source::local;  // where new GPUs come from, for their cold start
  Duration failed_hold{};           // a failed one is not replaced before
  Duration hold =
      std::chrono::minutes(5);  // slots are kept for so long after the last work, at least
};

class BatchLane {
 public:
  // All outlive it.
  struct Uses {
    PoolStore& pool;
    TenantStore& tenants;
    Supply& supply;
    DemandTracker& demand_tracker;
  };
  BatchLane(const Uses& uses, BatchLaneOptions options)
      : uses_(uses), options_(std::move(options)) {}

  // To be taken every second. Error{failed} when the database cannot be reached.
  void turn();

 private:
  int slots(std::span<const Gpu> gpus) const;

  Uses uses_;
  BatchLaneOptions options_;
  TimePoint supply_said_at_{};  // by this process
};

}  // namespace navtalk
