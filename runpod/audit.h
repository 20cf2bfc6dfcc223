// Compares the provider's bill with the pool's own ledger, pod by pod: is anything paid for but not
// recorded? Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runpod/api/messages.h"
#include "scheduler/pool/history.h"

namespace navtalk::runpod {

struct AuditRow {
  std::string pod;
  double recorded_h = 0, recorded_usd = 0;
  std::optional<double> billed_usd{};  // missing: not on the bill
};

struct Audit {
  std::vector<AuditRow> rows{};       // pods of the ledger, in its order
  std::vector<PodBill> unrecorded{};  // billed, but not in our ledger: one entry a pod
  double recorded_usd = 0;            // of the rows
  double billed_usd = 0;              // of the rows
  // Billed above what was recorded, by more than `tolerance` of it and a cent a pod.
  std::vector<std::string> underrecorded{};
};

// Spans are cut to [from, to). Several bills of one pod are added up.
Audit audit(const std::vector<PaidSpan>& ledger, const std::vector<PodBill>& bills, TimePoint from,
            TimePoint to, double tolerance);

}  // namespace navtalk::runpod
