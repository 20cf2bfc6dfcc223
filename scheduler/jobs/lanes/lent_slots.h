// How slots that jobs have come back to users who wait. Pure: the dispatcher of a gateway and the simulator
// of the batch lane both follow it. What is lent at all, may_lend() of scheduler/pool/lending.h says.
//
//   a user waits, or too few slots are free ──► as many of the newest runs yield ──► behind their next segment, or k_yield_within later
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/time.h"

namespace navtalk {

// A run that yields keeps its slot for so long at most. What it has rendered behind its last segment is lost, which is
// worth less than a user's time.
inline constexpr Duration k_yield_within = std::chrono::seconds(2);
// Who waits is looked at this often at least.
inline constexpr Duration k_lane_round = std::chrono::seconds(1);

// Of so many runs, sorted by their claims, those from this one on yield to so many users: the newest, which have done
// the least.
constexpr std::size_t first_to_yield(std::size_t runs, std::size_t users) {
  return runs - std::min(runs, users);
}

// Slots that are wanted back: one for each user who waits, and those that are missing of the `kept` ones of users.
constexpr std::size_t wanted_back(std::size_t users, std::size_t free, std::size_t kept) {
  return users + (kept > free ? kept - free : 0);
}

}  // namespace navtalk
