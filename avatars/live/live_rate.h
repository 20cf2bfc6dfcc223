// How many pictures a second a live session has, whatever the rate of the avatar's clip, and the lower rates that
// it falls back to where the machine is too slow.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "core/base/frame_rate.h"

namespace navtalk {

inline constexpr std::array<FrameRate, 3> k_live_rates{25, 20, 15};  // the usual one first
inline constexpr FrameRate k_live_rate = k_live_rates.front();

// The time of one picture, rounded.
constexpr std::chrono::microseconds picture_time(const FrameRate& rate) {
  const std::int64_t num = rate.num(), den = rate.den();
  return std::chrono::microseconds((1'000'000 * den + num / 2) / num);
}

}  // namespace navtalk
