// When a waiter may count on a slot: the 90th percentile, from GPUs that are starting (learned lead
// times, given how long they have been at it) and sessions that end. Pure.
#pragma once

#include <optional>
#include <span>

#include "scheduler/forecast/demand.h"

namespace navtalk {

// The chance with which a promise is to hold.
inline constexpr double k_promise = 0.9;

struct Eta {
  Duration p90{};
  friend bool operator==(const Eta&, const Eta&) = default;
};

// From `now`, with what promises have taught (eta_correction.h), for the waiter at `position` (1 is the head); nullopt when it is not known: nothing
// starts and nothing ends within six hours. O(GPUs + position x starting GPUs).
std::optional<Eta> estimate(std::size_t position, std::span<const Gpu> gpus, const Demand& demand,
                            double eta_correction, TimePoint now);

}  // namespace navtalk
