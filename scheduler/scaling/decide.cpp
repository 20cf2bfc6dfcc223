#include "scheduler/scaling/decide.h"

#include "scheduler/scaling/cloud_switch.h"
#include "scheduler/scaling/rules.h"

namespace navtalk {

void plan_for(const Snapshot& snapshot, const ScalingLimits& limits, const Target& target,
              TimePoint now, Plan& plan) {
  plan.actions.clear();
  plan.capacity = capacity_of(snapshot, limits, now);
  plan.target = target;
  plan.shadow.reset();
  plan.blocked_by = BlockedBy::none;
  plan.missing = 0;
  plan.kept = 0;
  plan.memory = updated_memory(snapshot, limits, plan.capacity, target, now);
  plan.cloud = plan.memory.cloud_on;
  Rules(snapshot, limits, now, plan).run();
}

void decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan) {
  const Capacity capacity = capacity_of(snapshot, limits, now);
  const Target target = target_for(snapshot, limits, capacity, now);
  plan_for(snapshot, limits, target, now, plan);
  if (target.surge && snapshot.memory.surge_until <= now) {
    plan.memory.surge_until = now + limits.surge_hold;
  }
  if (limits.shadow) {
    ScalingLimits other = limits;
    other.policy = *limits.shadow;
    plan.shadow = target_for(snapshot, other, capacity, now);
  }
  // The shadow learns as well: it is to show what it would do.
  const Target& adaptive =
      limits.policy == ScalingPolicy::adaptive ? target : plan.shadow.value_or(target);
  if (adaptive.slowest.horizon_s > 0) {
    plan.memory.headroom.used = adaptive.learned;
    plan.memory.headroom.observe(now, {.busy = capacity.busy + snapshot.queued,
                                       .fast_per_s = snapshot.demand.fast_per_s,
                                       .outlook = adaptive.slowest});
  }
}

Plan decide(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  Plan plan;
  decide(snapshot, limits, now, plan);
  return plan;
}

}  // namespace navtalk
