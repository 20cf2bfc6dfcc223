// What a connection to PostgreSQL remembers of the tenants between claims, so that each claim reads only those of whom
// something has changed since the last one.
//
//   a change of a released or running job, of a place or of terms ──► trigger ──► a row of `lane_changes`
//   claim, under the writers' lock ──► LaneMemory: the tenants of rows behind the last one seen, with their first jobs
//
// Writers take turns, so that the numbers of the rows grow in the order of the commits, and none appears behind one that was
// seen. Who changes tables by hand does not wait for a turn: after a minute all is read again.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scheduler/jobs/job.h"
#include "scheduler/jobs/shares/flood_headroom.h"
#include "scheduler/jobs/shares/slot_parts.h"
#include "scheduler/jobs/shares/tenant_line.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct KnownTenant {
  SlotUse use{};
  FairPlace place{};
  std::optional<int> placed_in{};  // the plan of its place; nullopt: it has none
  std::optional<Job> first{};      // claimable
  bool text_left_out = false;      // of `first`, because it is long
};

class LaneMemory {
 public:
  // Has delayed jobs claimable again whose time has come, and asks for what refreshed() reads.
  static std::string opening(DbConnection& db, std::any& memory);
  // As the transaction sees the store, which has a memory. Valid until the transaction changes something.
  static const LaneMemory& refreshed(Transaction& transaction);

  // Those that have jobs running or released, and all that ever had a place.
  const std::map<TenantId, KnownTenant>& tenants() const { return tenants_; }
  const FloodHeadroom& headroom() const { return headroom_; }

 private:
  static LaneMemory& of(std::any& memory);
  // What is to be asked now.
  const std::string& question(DbConnection& db);
  void take(DbRows& rows);

  std::map<TenantId, KnownTenant> tenants_{};
  FloodHeadroom headroom_{};
  std::optional<std::int64_t> seen_{};  // of `lane_changes`; nullopt: all is to be read
  std::int64_t passed_ = 0;             // changes between the last two looks
  std::chrono::steady_clock::time_point read_all_at_{};
};

}  // namespace navtalk
