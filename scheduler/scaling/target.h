// How many slots there should be. docs/scaling.md derives the formulas. Pure, thread-safe.
#pragma once

#include "scheduler/scaling/capacity.h"

namespace navtalk {

// The number, and the figures that led to it.
struct Target {
  int least = 0;                                  // GPUs are started below it
  int most = 0;                                   // GPUs are removed above it
  int forecast = 0;                               // adaptive: least by the forecast alone
  int floor = 0;                                  // adaptive: least by Erlang C
  double horizon_s = 0, mean = 0, deviation = 0;  // adaptive: see docs/scaling.md
  double recurring = 0;                           // adaptive: recurring arrivals' part of the mean
  Outlook slowest{};                              // adaptive: for the slowest way to more slots
  Headroom::Learned learned{};                    // adaptive: the headroom used for it
  bool surge = false, held = false;               // why nothing is removed
  bool idle_hold = false;                         // static: see in_idle_hold()

  friend bool operator==(const Target&, const Target&) = default;
};

// Has it been ready, or without a session, for less than the hold? Under the static policy it is not
// removed as surplus then. Ticks alone would not see users who come and go between two of them.
bool in_idle_hold(const Gpu& gpu, const ScalingLimits& limits, TimePoint now);

Target target_for(const Snapshot& snapshot, const ScalingLimits& limits, const Capacity& capacity,
                  TimePoint now);

}  // namespace navtalk
