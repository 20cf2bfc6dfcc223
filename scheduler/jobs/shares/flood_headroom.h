// Slots that are kept free from one tenant while it floods and the others hardly wait: a job of another tenant then finds
// one at once, and not at the end of a segment. Pure.
//
//   a turn of the lane ──► flood_headroom(): how many jobs may run before the tenant's own ones wait ──► the store
//   a claim, of any gateway ──► holds_back(): the tenant's jobs are left out, those of others are not
//   each gateway's round ──► room(): so many of the tenant's jobs give way at the end of their segments
#pragma once

#include <cstdint>
#include <span>

#include "scheduler/jobs/shares/tenant_line.h"

namespace navtalk {

// One of so many slots is kept free; of fewer slots none.
inline constexpr std::int64_t k_slots_per_kept = 8;
// A tenant floods with so many jobs that wait, or with as many as there are slots if these are more.
inline constexpr std::int64_t k_least_flood = 16;
// Jobs of the others that wait, in the mean by WaitHistory. Where more do, the slots do not suffice: kept ones would make
// everybody wait.
inline constexpr double k_most_others_waiting = 0.15;
// Behind the last submission by another tenant. Then the flood has all slots.
inline constexpr Duration k_others_expected = std::chrono::minutes(10);
// A headroom that no turn repeats for so long has ended: nobody counts the slots any more.
inline constexpr Duration k_headroom_lasts = std::chrono::minutes(1);

struct FloodHeadroom {
  TenantId tenant{};              // from which slots are kept free
  std::int64_t most_running = 0;  // jobs of all tenants: with so many, only the kept slots are free
  TimePoint until{};

  // Never for longer than a turn says, whatever becomes of the clock.
  bool holds(TimePoint now) const {
    return most_running > 0 && now < until && until - now <= k_headroom_lasts;
  }
  // Whether no job of this tenant is to be claimed while so many run.
  bool holds_back(const TenantId& claiming, std::int64_t running, TimePoint now) const {
    return claiming == tenant && running >= most_running && holds(now);
  }
  // How many of the kept slots are taken while so many jobs run.
  std::int64_t room(std::int64_t running, TimePoint now) const {
    return holds(now) && running > most_running ? running - most_running : 0;
  }

  friend bool operator==(const FloodHeadroom&, const FloodHeadroom&) = default;
};

// Of the slots that jobs may use at this moment: those that are lent and those that are free. 0: how many is not known, and
// nothing is kept. most_running is 0 where no tenant floods, or the others wait, or none of them is expected.
FloodHeadroom flood_headroom(std::span<const TenantLine> lines, std::int64_t slots, TimePoint now);

}  // namespace navtalk
