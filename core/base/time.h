// Points in time as the pool keeps them: microseconds, so that they survive a store unchanged.
#pragma once

#include <chrono>

namespace navtalk {

using Duration = std::chrono::microseconds;
using TimePoint = std::chrono::sys_time<Duration>;

// Seconds as a number, for formulas, JSON and metrics.
constexpr double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
constexpr Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace navtalk
