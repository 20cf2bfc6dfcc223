#include "scheduler/scaling/capacity.h"

namespace navtalk {
namespace {

bool capped(const Gpu& gpu) {
  return gpu.dedicated_to.empty() && gpu.source != Source::external && !nothing_was_made(gpu);
}

void count(const Gpu& gpu, bool cloud_usable, const ScalingLimits& limits, TimePoint now,
           Capacity& capacity) {
  capacity.busy += gpu.sessions;
  const bool usable = gpu.source != Source::cloud || cloud_usable;
  const int local = gpu.source == Source::cloud ? 0 : gpu.slots;
  switch (gpu.state) {
    case State::idle:
    case State::running:
      if (usable) capacity.free += gpu.free_slots();
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
      capacity.busy -= gpu.sessions;  // they are lost
      if (gpu.source != Source::external && now - gpu.since < limits.failed_hold) {
        capacity.holding += gpu.slots;
      }
      break;
    case State::stopping:
      break;
  }
}

}  // namespace

Capacity capacity_of(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const bool cloud_usable = limits.cloud == CloudSwitch::on ||
                            (limits.cloud == CloudSwitch::automatic && snapshot.memory.cloud_on);
  Capacity capacity;
  for (const Gpu& gpu : snapshot.gpus) {
    if (capped(gpu)) ++capacity.gpus;
    if (gpu.state != State::paused) capacity.usd_per_hour += gpu.usd_per_hour;
    if (shared(gpu)) count(gpu, cloud_usable, limits, now, capacity);
  }
  const SourceState& local = snapshot.sources[static_cast<std::size_t>(Source::local)];
  if (local.available) capacity.local += local.room_slots();
  return capacity;
}

}  // namespace navtalk
