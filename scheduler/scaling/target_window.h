// The highest target of the recent past: what hold-down lets the pool fall to. Keeps only targets
// that no later one exceeds, so that it stays short. Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "core/base/time.h"

namespace navtalk {

struct TimedTarget {
  TimePoint at{};
  int target = 0;
  friend bool operator==(const TimedTarget&, const TimedTarget&) = default;
};

class TargetWindow {
 public:
  // Times do not go back.
  void add(TimePoint at, int target);
  // Forgets what was before `before`.
  void forget(TimePoint before);
  // Oldest first, falling.
  std::span<const TimedTarget> targets() const { return std::span(targets_).subspan(first_); }

 private:
  std::vector<TimedTarget> targets_;
  std::size_t first_ = 0;
};

}  // namespace navtalk
