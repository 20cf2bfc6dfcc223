// How many slots offline work wants beside those of users: said by the batch lane, read by the scaler.
#pragma once

#include "scheduler/pool/settings.h"

namespace navtalk {

struct OfflineDemand {
  int slots = 0;
  TimePoint said_at{};
  TimePoint worked_at{};  // when there was work last
  // What the lane remembers (scheduler/jobs/lanes/fleet_memory.h):
  double needed = 0;  // slots lately, beside those that users leave
  TimePoint sampled_at{};
  Duration gap{};  // without any work, in the mean; 0: none was seen

  friend bool operator==(const OfflineDemand&, const OfflineDemand&) = default;
};

OfflineDemand read_offline_demand(PoolStore& store);
void write_offline_demand(PoolStore& store, const OfflineDemand& demand);

// A demand that nobody repeats for so long wants nothing: whoever said it has ended.
inline constexpr Duration k_offline_demand_lasts = std::chrono::minutes(1);
// Its slots now.
int wanted_slots(const OfflineDemand& demand, TimePoint now);

}  // namespace navtalk
