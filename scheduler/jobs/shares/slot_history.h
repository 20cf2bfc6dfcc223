// What a tenant has had of the slots lately, and how many of its jobs waited for them. Plain values. Pure.
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

struct WaitHistory {
  static constexpr Duration k_memory = std::chrono::minutes(30);  // time constant
  // Behind a longer pause of the turns nothing was to be done.
  static constexpr Duration k_longest_turn = std::chrono::seconds(10);

  double jobs = 0;  // that waited, in the mean, older ones with exponentially less weight

  // That so many of its jobs wait, so long after the last time.
  void observe(std::int64_t waiting, Duration passed) {
    const auto kept = [](Duration time) {
      return std::exp(-in_seconds(std::max(time, Duration{})) / in_seconds(k_memory));
    };
    const double added = 1 - kept(std::min(passed, k_longest_turn));
    jobs = kept(passed) * jobs + added * static_cast<double>(waiting);
  }

  friend bool operator==(const WaitHistory&, const WaitHistory&) = default;
};

}  // namespace navtalk
