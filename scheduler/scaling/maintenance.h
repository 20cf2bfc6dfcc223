// Which GPUs to drain for maintenance windows, and which to give back after them. Pure.
#pragma once

#include <vector>

#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/schedule/timetable_state.h"

namespace navtalk {

struct MaintenancePlan {
  std::vector<std::size_t> drain{}, undrain{};  // into PoolView::gpus
  MaintenanceDrains before{}, drains{};         // those that windows have drained, and afterwards

  bool empty() const { return drain.empty() && undrain.empty(); }
};
// `drains`: those before. A row that is draining already, and not among them, stays an operator's.
MaintenancePlan plan_maintenance(const std::vector<Gpu>& gpus, const Timetable& timetable,
                                 const MaintenanceDrains& drains);

// The rows as they are afterwards.
void apply_to(std::vector<Gpu>& gpus, const MaintenancePlan& plan);

}  // namespace navtalk
