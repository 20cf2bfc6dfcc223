// The slots of the batch lane as its GPUs come and go, which promises count on. Plain values; said_supply.h keeps them.
#pragma once

#include <algorithm>

#include "core/base/time.h"

namespace navtalk {

// A lane that has all slots it may have does not grow, nor does one of which nothing is known.
struct LaneSupply {
  int ready = 0;          // that serve, without those of users
  int starting = 0;       // besides
  int most = 0;           // that it may have, with those
  Duration cold_start{};  // until a new GPU renders: p90, as measured
  TimePoint
      next_at{};  // when nine in ten of those like the next GPU that starts are ready; zero: none starts

  bool grows() const { return starting > 0 || most > ready; }
  friend bool operator==(const LaneSupply&, const LaneSupply&) = default;
};

// Until a GPU that is not there renders: what is left of a start, or all of one.
inline Duration until_next(const LaneSupply& supply, TimePoint now) {
  if (supply.starting == 0) return supply.cold_start;
  return std::clamp(supply.next_at - now, Duration{}, supply.cold_start);
}

}  // namespace navtalk
