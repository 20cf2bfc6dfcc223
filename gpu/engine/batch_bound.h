// How many requests a batch may have where the device ran out of memory: half of what was too many, and after a while twice
// as many again. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace navtalk {

class BatchBound {
 public:
  using Clock = std::chrono::steady_clock;

  explicit BatchBound(std::size_t largest) : largest_(largest), bound_(largest) {}

  // At that time, which is later than the last one.
  std::size_t at(Clock::time_point now) {
    if (bound_ < largest_ && now >= again_) {
      bound_ = std::min(largest_, 2 * bound_);
      again_ = now + pause_;
    }
    return bound_;
  }

  std::size_t current() const { return bound_; }

  // The device had no memory for a batch of that size. When that happens soon after a larger size was tried, the next
  // try is twice as far away. True: the bound is smaller than before.
  bool exceeded(std::size_t size, Clock::time_point now) {
    const std::size_t before = bound_;
    bound_ = std::min(bound_, std::max<std::size_t>(1, size / 2));
    const bool again = last_ && now - *last_ < 2 * pause_;
    pause_ = again ? std::min<std::chrono::seconds>(2 * pause_, k_longest_pause) : k_first_pause;
    last_ = now;
    again_ = now + pause_;
    return bound_ < before;
  }

  // No larger batch is tried from now on.
  void limit(std::size_t size) {
    largest_ = std::min(largest_, std::max<std::size_t>(1, size));
    bound_ = std::min(bound_, largest_);
  }

 private:
  static constexpr std::chrono::seconds k_first_pause{30}, k_longest_pause{480};

  std::size_t largest_, bound_;
  std::chrono::seconds pause_ = k_first_pause;
  std::optional<Clock::time_point> last_{};
  Clock::time_point again_{};
};

}  // namespace navtalk
