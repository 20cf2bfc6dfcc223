#include "scheduler/pool/update_row.h"

#include "core/base/error.h"

namespace navtalk {
namespace {

// More lost races in a row than this are not an accident.
constexpr int k_tries = 100;

Error always_changing(const GpuId& id) {
  return {Code::failed, "'" + id.text + "' is changed all the time by others; try again"};
}

}  // namespace

std::optional<Gpu> update_row(PoolStore& store, const GpuId& id, const Cause& cause,
                              const std::function<std::optional<GpuChange>(const Gpu&)>& decide) {
  for (int i = 0; i < k_tries; ++i) {
    const std::optional<Gpu> row = store.find(id);
    std::optional<GpuChange> change = row ? decide(*row) : std::nullopt;
    if (!change) return std::nullopt;
    change->id = row->id;
    change->version = row->version;
    if (std::optional<Gpu> after = store.change(*change, cause)) return after;
  }
  throw always_changing(id);
}

bool remove_row(PoolStore& store, const GpuId& id, const Cause& cause,
                const std::function<bool(const Gpu&)>& wanted) {
  for (int i = 0; i < k_tries; ++i) {
    const std::optional<Gpu> row = store.find(id);
    if (!row || !wanted(*row)) return false;
    if (store.remove(row->id, row->version, cause)) return true;
  }
  throw always_changing(id);
}

}  // namespace navtalk
