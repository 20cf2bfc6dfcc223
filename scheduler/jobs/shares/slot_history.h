// What a tenant has had of the slots lately. A plain value. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/time.h"

namespace navtalk {

struct SlotHistory {
  static constexpr Duration k_memory = std::chrono::hours(1);  // time constant

  double slots = 0;  // in the mean, older ones with exponentially less weight

  // That so many of its jobs ran for so long.
  void observe(std::int64_t running, Duration passed) {
    const double keep = std::exp(-in_seconds(std::max(passed, Duration{})) / in_seconds(k_memory));
    slots = keep * slots + (1 - keep) * static_cast<double>(running);
  }

  friend bool operator==(const SlotHistory&, const SlotHistory&) = default;
};

}  // namespace navtalk
