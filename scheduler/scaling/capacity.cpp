#include "scheduler/scaling/capacity.h"

#include <algorithm>

namespace navtalk {
namespace {

bool capped(const Gpu& gpu) {
  return gpu.dedicated_to.empty() && gpu.source != Source::external && !nothing_was_made(gpu);
}

// `held`: a failed or silent one is not replaced yet.
void count(const Gpu& gpu, bool cloud_usable, bool held, Capacity& capacity) {
  // What is lent comes back when users want it.
  const int live = gpu.sessions - gpu.lent, free = gpu.free_slots() + gpu.lent;
  capacity.busy += live;
  const bool usable = gpu.source != Source::cloud || cloud_usable;
  const int local = gpu.source == Source::cloud ? 0 : gpu.slots;
  switch (gpu.state) {
    case State::idle:
    case State::running:
      if (usable && !silent(gpu)) capacity.free += free;
      if (usable && silent(gpu) && held) capacity.holding += free;
      capacity.local += local;
      break;
    case State::starting:
      capacity.starting += gpu.slots;
      capacity.local += local;
      break;
    case State::paused:
      if (usable) capacity.paused += gpu.slots;
      capacity.local += local;
      break;
    case State::failed:
      capacity.busy -= live;  // they are lost
      if (gpu.source != Source::external && held) capacity.holding += gpu.slots;
      break;
    case State::stopping:
      break;
  }
}

}  // namespace

bool in_hold(const Gpu& gpu, const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  if (now - gpu.since < limits.failed_hold || snapshot.unasked.contains(gpu.id)) return true;
  const Outage& outage = snapshot.outages[origin_of(gpu)];
  return may_return(gpu) && (outage.on || now - outage.since < limits.failed_hold);
}

bool is_replaced(const Gpu& gpu, const Snapshot& snapshot, const ScalingLimits& limits,
                 TimePoint now) {
  const bool lasts = gpu.source == Source::cloud && silent(gpu) &&
                     snapshot.outages[origin_of(gpu)].on &&
                     now - gpu.missed_since >= limits.failed_hold;
  return lasts && std::none_of(snapshot.gpus.begin(), snapshot.gpus.end(), [&](const Gpu& other) {
           return origin_of(other) == origin_of(gpu) && other.serving() && other.id != gpu.id;
         });
}

Capacity capacity_of(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const bool cloud_usable = limits.cloud == CloudSwitch::on ||
                            (limits.cloud == CloudSwitch::automatic && snapshot.memory.cloud_on);
  Capacity capacity;
  for (const Gpu& gpu : snapshot.gpus) {
    if (capped(gpu)) ++capacity.gpus;
    if (gpu.state != State::paused) capacity.usd_per_hour += gpu.usd_per_hour;
    if (shared(gpu)) {
      const bool held = gpu.state == State::failed ? in_hold(gpu, snapshot, limits, now)
                                                   : !is_replaced(gpu, snapshot, limits, now);
      count(gpu, cloud_usable, held, capacity);
    }
  }
  const SourceState& local = snapshot.sources[static_cast<std::size_t>(Source::local)];
  if (local.available) capacity.local += local.creatable_slots();
  return capacity;
}

}  // namespace navtalk
