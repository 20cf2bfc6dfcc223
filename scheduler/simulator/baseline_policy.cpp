#include "scheduler/simulator/baseline_policy.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace navtalk {

Cadence cadence_of(Strategy::Kind kind) {
  using namespace std::chrono_literals;
  using enum Strategy::Kind;
  switch (kind) {
    case buffer:
      return {30s, 0s};
    case buffer_hold:
    case sqrt_hold:
      return {5s, 15min};
    case utilisation:
      return {30s, 300s};
    case fixed:
    case static_limits:
    case adaptive:
    case oracle:
      break;
  }
  return {5s, 0s};
}

int baseline_target(const Strategy& strategy, int busy) {
  const auto ceiled = [](double slots) { return static_cast<int>(std::ceil(slots - 1e-9)); };
  using enum Strategy::Kind;
  switch (strategy.kind) {
    case fixed:
      return ceiled(strategy.knob);
    case buffer:
    case buffer_hold:
      return busy + ceiled(strategy.knob);
    case utilisation:
      return std::max(ceiled(strategy.second), ceiled(busy / strategy.knob));
    case sqrt_hold:  // an empty pool keeps what one busy slot would
      return busy + ceiled(strategy.knob * std::sqrt(std::max(busy, 1)));
    case static_limits:
    case adaptive:
    case oracle:
      break;
  }
  NAVTALK_CHECK(false);
  return 0;
}

}  // namespace navtalk
