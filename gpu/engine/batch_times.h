// How long batches take, by their size: learned from those that were made. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>

namespace navtalk {

class BatchTimes {
 public:
  using Duration = std::chrono::microseconds;

  // Slow ones count at once, and are forgotten slowly.
  void note(std::size_t size, Duration took) {
    Duration& known = times_[size];
    known = std::max(took, known - known / k_forgotten);
  }

  // nullopt: no batch was made yet. One of a size that was never made takes at least as long as a smaller one did, and at
  // most as long for each picture.
  std::optional<Duration> expected(std::size_t size) const {
    const auto above = times_.upper_bound(size);
    if (above == times_.begin())
      return times_.empty() ? std::nullopt : std::optional(times_.begin()->second);
    const auto& [made, took] = *std::prev(above);
    return took * size / made;
  }

 private:
  static constexpr int k_forgotten = 20;  // a twentieth with each batch

  std::map<std::size_t, Duration> times_{};
};

}  // namespace navtalk
