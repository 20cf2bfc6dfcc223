// One step of the batch lane, within the caller's transaction: learns from finished jobs, divides
// the budget, releases, and changes promises that will be missed. Private to TenantStore.
#pragma once

#include <cstdint>
#include <set>

#include "scheduler/jobs/shares/share_tables.h"
#include "scheduler/jobs/shares/tenant_store.h"

namespace navtalk {

class LaneTurn {
 public:
  LaneTurn(Transaction& transaction, TenantTermsTable terms, const Cause& cause, TimePoint now)
      : t_(transaction), terms_(std::move(terms)), cause_(cause), now_(now) {}

  // With at most so many GPUs, and so many slots that jobs may use at the moment (0: not known); what was released.
  VideoMinutes take(double gpus, std::int64_t slots);

 private:
  void learn();
  VideoMinutes release(TenantLine& line);
  VideoMinutes release_early();
  VideoMinutes lend();

  Transaction& t_;
  TenantTermsTable terms_;
  const Cause& cause_;
  TimePoint now_;
  LaneRow lane_{};
  Division division_{};
  std::set<TenantId> submitted_{};  // since the last turn, something
};

}  // namespace navtalk
