// The ways to change or remove a row that other processes change as well: read the row, decide,
// compare-and-set, and start over when another process was quicker. Stateless.
#pragma once

#include <functional>
#include <optional>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// Applies the change that `decide` gives for the row as it is now; nullopt from `decide` leaves the
// row alone. The change's id and version are filled in. Returns the row after the change; nullopt
// when it was left alone or is gone. Error{failed} when others change the row all the time.
std::optional<Gpu> update_row(PoolStore& store, const GpuId& id, const Cause& cause,
                              const std::function<std::optional<GpuChange>(const Gpu&)>& decide);
// Removes the row if `wanted` still says so. False when it does not, or the row is gone.
bool remove_row(PoolStore& store, const GpuId& id, const Cause& cause,
                const std::function<bool(const Gpu&)>& wanted);

}  // namespace navtalk
