// Which tenant's job is next: tenants below their part of the slots first, of these higher plans first, and within a plan
// start-time fair queueing by video-minutes (Goyal, Vin, Cheng 1996). No plan waits for others longer than a bound. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/time.h"
#include "scheduler/jobs/shares/tenant_line.h"

namespace navtalk {

// A plan's next job that has been released for longer than this is claimed before those of other plans that wait
// less. Within a plan the fair order lets nobody wait for ever.
inline constexpr Duration k_longest_passed_over = std::chrono::minutes(1);

// A tenant's first job.
struct ClaimCandidate {
  // Among equals the lowest is first: of tenants in a store that of their names.
  std::int64_t order = 0;
  int plan = 0;
  double weight = 1;
  FairPlace place{};
  TimePoint waits_since{};  // released
  bool below = true;        // its tenant has less than its part of the slots (slot_parts.h)
};

// The virtual time of each plan: the greatest FairPlace::started of its tenants.
using VirtualTimes = std::map<int, double>;

// Of each plan the index of the one that its order has next, by ascending plans. Does not look at waits_since.
std::vector<std::size_t> next_of_plans(std::span<const ClaimCandidate> candidates,
                                       const VirtualTimes& times);

// The index of the chosen one, which is one of next_of_plans(); nullopt for an empty list.
std::optional<std::size_t> choose(std::span<const ClaimCandidate> candidates,
                                  const VirtualTimes& times, TimePoint now);

// The tenant's place after this much of its work was claimed; advances `times`.
FairPlace place_after(const ClaimCandidate& chosen, VideoMinutes work, VirtualTimes& times);

}  // namespace navtalk
