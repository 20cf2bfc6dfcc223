#include "scheduler/scaling/cloud_switch.h"

#include "scheduler/forecast/erlang.h"

namespace navtalk {
namespace {

bool needs_cloud(const Snapshot& snapshot, const ScalingLimits& limits, const Capacity& capacity,
                 const Target& target) {
  if (target.least > capacity.local) return true;
  if (limits.policy != ScalingPolicy::adaptive) return false;
  const double load = snapshot.demand.rate_per_s * snapshot.demand.session_s;
  return erlang_c(capacity.local, load) > limits.wait_probability;
}

}  // namespace

ScalerMemory updated_memory(const Snapshot& snapshot, const ScalingLimits& limits,
                            const Capacity& capacity, const Target& target, TimePoint now) {
  ScalerMemory memory = snapshot.memory;
  const SourceState& cloud = snapshot.sources[static_cast<std::size_t>(Source::cloud)];
  if (limits.cloud != CloudSwitch::automatic || !cloud.available) {
    memory.cloud_on = limits.cloud == CloudSwitch::on && cloud.available;
    memory.cloud_need_ticks = 0;
    return memory;
  }
  if (needs_cloud(snapshot, limits, capacity, target)) {
    if (memory.cloud_need_ticks < limits.cloud_after_ticks) ++memory.cloud_need_ticks;
    memory.cloud_needed_at = now;
    memory.cloud_on |= memory.cloud_need_ticks >= limits.cloud_after_ticks;
  } else {
    memory.cloud_need_ticks = 0;
    if (now - memory.cloud_needed_at >= limits.cloud_quiet_hold) memory.cloud_on = false;
  }
  return memory;
}

}  // namespace navtalk
