// How slots that jobs have come back to users who wait. Pure: the dispatcher of a gateway and the simulator
// of the batch lane both follow it. What is lent at all, may_lend() of scheduler/pool/lending.h says.
//
//   a user waits ──► the newest runs yield, as many as users wait ──► behind their next segment, or k_yield_within later
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/time.h"

namespace navtalk {

// A run that yields keeps its slot for so long at most.
inline constexpr Duration k_yield_within = std::chrono::seconds(8);
// Who waits is looked at this often at least.
inline constexpr Duration k_lane_round = std::chrono::seconds(1);

// Of so many runs, sorted by their claims, those from this one on yield to so many users: the newest, which have done
// the least.
constexpr std::size_t first_to_yield(std::size_t runs, std::size_t users) {
  return runs - std::min(runs, users);
}

}  // namespace navtalk
