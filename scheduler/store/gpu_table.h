// Rows of the table `gpus`, and what is kept beside each change of one: its event and the ledger.
// Stateless; all within the caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/gpu.h"
#include "scheduler/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

std::vector<Gpu> all_gpus(Transaction& transaction);  // by created_at, then id
std::optional<Gpu> find_gpu(Transaction& transaction, const GpuId& id);
void insert_gpu(Transaction& transaction, const Gpu& gpu);
// Everything but id, name, source, created_at, seen_at and epoch.
void update_gpu(Transaction& transaction, const Gpu& gpu);
void delete_gpu(Transaction& transaction, const GpuId& id);

// GPUs with a free slot, neither draining nor dedicated to another than `dedicated_to` (empty: the
// shared ones), in the order in which claims take them. A local GPU counts for gateways of its own
// host only; `host` empty: for all.
std::vector<Gpu> gpus_with_room(Transaction& transaction, const TenantId& dedicated_to,
                                const std::string& host, std::size_t limit);
int free_slots(Transaction& transaction, const TenantId& dedicated_to);
// One more session on it, with the next epoch; the row afterwards.
Gpu open_session(Transaction& transaction, const Gpu& gpu);
// One fewer; idle after the last one, if it was running.
void close_session(Transaction& transaction, const GpuId& id, const Cause& cause);

void write_event(Transaction& transaction, const GpuId& id, const Cause& cause,
                 std::optional<State> from, std::optional<State> to);

// Opens, closes or replaces the GPU's paid span; see PaidSpan for the rule. `after` nullopt: the
// row is gone.
void keep_ledger(Transaction& transaction, const GpuId& id, const std::optional<Gpu>& after);

}  // namespace navtalk
