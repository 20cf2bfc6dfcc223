// Time as a loop gives it to the transfers that it serves: what passes between two rounds counts up to
// `k_longest_round`. The rest is the loop's own lateness (its core was busy, or the process stood still),
// and no server's. So within a timeout of T every transfer is served in T / k_longest_round rounds or
// more, however late the loop is. Not thread-safe.
//
//   clock        0    0.1   0.2  ....................  3.2   3.3 s
//   round        |     |     |      the loop is late    |     |
//   attended     0    0.1   0.2                        0.4   0.5 s
#pragma once

#include <algorithm>
#include <chrono>

namespace navtalk {

class AttendedClock {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration k_longest_round = std::chrono::milliseconds(200);

  explicit AttendedClock(Clock::time_point now) : last_(now) {}

  // Once in each round, when the loop has learnt what is ready.
  void round(Clock::time_point now) {
    passed_ = at(now);
    last_ = now;
  }
  // The attended time until the last round, and until `now` in the round that goes on.
  Clock::duration passed() const { return passed_; }
  Clock::duration at(Clock::time_point now) const {
    return passed_ + std::clamp(now - last_, Clock::duration{}, k_longest_round);
  }

 private:
  Clock::time_point last_;
  Clock::duration passed_{};
};

}  // namespace navtalk
