// The slots of the batch lane as its GPUs come and go, which promises count on. Plain values; said_supply.h keeps them.
#pragma once

#include <algorithm>

#include "core/base/time.h"

namespace navtalk {

// Until jobs have taught it, in video-minutes a minute: a slot of a GPU is one that was measured to render a live session; a
// CPU, which jobs have at the lowest priority, is believed to render a fifth.
inline constexpr double k_gpu_prior_rate = 1, k_cpu_prior_rate = 0.2;

// A lane that has all slots it may have does not grow, nor does one of which nothing is known.
struct LaneSupply {
  int ready = 0;          // that serve, without those of users
  int starting = 0;       // besides
  int most = 0;           // that it may have, with those
  Duration cold_start{};  // until a new GPU renders: p90, as measured
  // Until a worker renders again: p90. Zero while one serves or starts, and where nothing is known of them.
  Duration replacement{};
  // Video-minutes that one slot is believed to render in a minute until a job has taught it; 0: nothing is known of the slots.
  double prior_rate = 0;
  TimePoint
      next_at{};  // when nine in ten of those like the next GPU that starts are ready; zero: none starts

  bool grows() const { return starting > 0 || most > ready; }
  friend bool operator==(const LaneSupply&, const LaneSupply&) = default;
};

// Until a GPU that is not there renders: what is left of a start, or all of one, or of a replacement.
inline Duration until_next(const LaneSupply& supply, TimePoint now) {
  if (supply.starting == 0) return std::max(supply.cold_start, supply.replacement);
  return std::clamp(supply.next_at - now, Duration{}, supply.cold_start);
}

}  // namespace navtalk
