#include <algorithm>

#include "scheduler/scaling/plan.h"

namespace navtalk {
namespace {

bool capped(const Gpu& gpu) {
  return gpu.dedicated_to.empty() && gpu.source != Source::external && !nothing_was_made(gpu);
}

void count(const Gpu& gpu, bool cloud_usable, const ScalingLimits& limits, TimePoint now,
           Census& census) {
  census.busy += gpu.sessions;
  const bool usable = gpu.source != Source::cloud || cloud_usable;
  const int local = gpu.source == Source::cloud ? 0 : gpu.slots;
  switch (gpu.state) {
    case State::idle:
    case State::running:
      if (usable) census.free += gpu.free_slots();
      census.local += local;
      break;
    case State::starting:
      census.starting += gpu.slots;
      census.local += local;
      break;
    case State::paused:
      if (usable) census.paused += gpu.slots;
      census.local += local;
      break;
    case State::failed:
      census.busy -= gpu.sessions;  // they are lost
      if (gpu.source != Source::external && now - gpu.since < limits.failed_hold) {
        census.holding += gpu.slots;
      }
      break;
    case State::stopping:
      break;
  }
}

}  // namespace

Census census(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const bool cloud_usable = limits.cloud == CloudSwitch::on ||
                            (limits.cloud == CloudSwitch::automatic && snapshot.memory.cloud_on);
  Census census;
  for (const Gpu& gpu : snapshot.gpus) {
    if (capped(gpu)) ++census.gpus;
    if (gpu.state != State::paused) census.usd_per_hour += gpu.usd_per_hour;
    if (shared(gpu)) count(gpu, cloud_usable, limits, now, census);
  }
  const SourceState& local = snapshot.sources[static_cast<std::size_t>(Source::local)];
  if (local.available) census.local += local.room_slots();
  return census;
}

}  // namespace navtalk
