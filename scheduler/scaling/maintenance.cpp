#include "scheduler/scaling/maintenance.h"

#include <algorithm>

namespace navtalk {

MaintenancePlan plan_maintenance(const std::vector<Gpu>& gpus, const Timetable& timetable,
                                 const MaintenanceDrains& drains) {
  MaintenancePlan plan{.before = drains};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    const bool ours = std::find(drains.begin(), drains.end(), gpu.id) != drains.end();
    if (gpu.state == State::stopping && !gpu.draining) continue;  // it leaves anyway
    if (timetable.in_maintenance(origin_of(gpu), gpu.host)) {
      if (!gpu.draining) plan.drain.push_back(i);
      if (ours || !gpu.draining) plan.drains.push_back(gpu.id);
    } else if (ours && gpu.draining) {
      plan.undrain.push_back(i);
    }
  }
  return plan;
}

void apply_to(std::vector<Gpu>& gpus, const MaintenancePlan& plan) {
  for (const std::size_t i : plan.drain) gpus[i].draining = true;
  for (const std::size_t i : plan.undrain) gpus[i].draining = false;
}

}  // namespace navtalk
