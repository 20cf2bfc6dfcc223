// What sessions use of the pool's GPUs, by day: how long tenants held slots, and their share of the
// prices. Days are those of the wall clock, in UTC. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "scheduler/pool/origin.h"

namespace navtalk {

struct Usage {
  std::chrono::sys_days day{};
  TenantId tenant{};
  Origin origin = Origin::local;
  std::int64_t sessions = 0;  // that ended on the day
  double seconds = 0;         // in which slots were held
  double usd = 0;             // the slots' share of the GPUs' prices for those seconds
};

// How long accounts (usage, spans that cost money) are kept.
inline constexpr std::chrono::days k_keep_accounts{400};

// The dollars an hour that one slot of a GPU costs; 0 for those that are not paid for by the hour.
double usd_per_slot_hour(const Gpu& gpu);

// A session from `from` to `to` (wall clock), in pieces of whole days. It counts on the day on which it
// ended; one that has not ended, on none.
std::vector<Usage> usage_of(const TenantId& tenant, const Gpu& gpu, TimePoint from, TimePoint to,
                            bool ended);

}  // namespace navtalk
