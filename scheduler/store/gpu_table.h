// Rows of the table `gpus` (gpu_columns.h), and what every change of one keeps: events and the ledger.
// Stateless; all within the caller's transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/pool/gpu.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/session.h"
#include "scheduler/store/queue_order.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

std::vector<Gpu> all_gpus(Transaction& transaction);  // by created_at, then id
std::optional<Gpu> find_gpu(Transaction& transaction, const GpuId& id);
void insert_gpu(Transaction& transaction, const Gpu& gpu);
// The columns that a change may write: GpuColumn::updated.
void update_gpu(Transaction& transaction, const Gpu& gpu);
void delete_gpu(Transaction& transaction, const GpuId& id);

// The GPU that a claim takes: with a free slot, not draining, not silent, one dedicated to the tenant before a
// shared one; none that the claimant refuses; one that it avoids, or that missed its last probe, only
// if the next few are no better. A local GPU can be reached from its own host only; `host` empty: from
// anywhere.
std::optional<Gpu> best_gpu(Transaction& transaction, const Claimant& claimant);
// All that a claim may take, the best ones first: of many, the first of each kind.
std::vector<Gpu> claimable_gpus(Transaction& transaction, const Claimant& claimant);
// Free slots of GPUs dedicated to the tenant (empty: of shared ones).
SlotsByHost free_slots(Transaction& transaction, const TenantId& dedicated_to);
// One more session on it, with the next epoch; the row afterwards.
Gpu open_session(Transaction& transaction, const Gpu& gpu, Lane lane);
// One fewer; idle after the last one, if it was running. Returns the row as it was before.
Gpu close_session(Transaction& transaction, const GpuId& id, Lane lane, const Cause& cause);

void write_event(Transaction& transaction, const GpuId& id, const Cause& cause,
                 std::optional<State> from, std::optional<State> to);

// Opens, closes or replaces the GPU's paid span; see PaidSpan for the rule. `after` nullopt: the
// row is gone. One that opens, and follows no other, begins at `paid_since`, if that is given.
void keep_ledger(Transaction& transaction, const GpuId& id, const std::optional<Gpu>& after,
                 std::optional<TimePoint> paid_since = {});

}  // namespace navtalk
