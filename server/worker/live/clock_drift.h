// How much sound waits because the client's clock is faster than this one, told apart from sound that came in bursts.
// The least that waits in ten seconds stays the same while both clocks agree, grows by up to 25 ms where the client's is
// faster, and jumps where sound comes faster than it is played. Only growth of that size, in three windows in a row,
// counts. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace navtalk::server {

class ClockDrift {
 public:
  // What waits as a slot begins that goes on with its sound.
  void note(std::chrono::microseconds time, std::chrono::microseconds waiting) {
    if (!ends_at_) {
      ends_at_ = time + k_window;
    } else if (time >= *ends_at_) {
      end_window();
      ends_at_ = time + k_window;
    }
    least_ = std::min(least_, waiting + removed_);
  }
  // Nothing waits, or what waits came otherwise.
  void restart() { *this = ClockDrift(); }
  // What the client's clock has gained and nobody has removed; below 0: its clock is slow.
  std::chrono::microseconds excess() const { return gained_ - removed_; }
  void remove(std::chrono::microseconds length) { removed_ += length; }

 private:
  static constexpr std::chrono::microseconds k_window = std::chrono::seconds(10);
  static constexpr std::chrono::microseconds k_most = std::chrono::milliseconds(25);  // a window
  static constexpr int k_steady = 2;  // changes in a row that are small

  void end_window() {
    if (before_) {
      const auto change = least_ - *before_;
      steady_ = std::chrono::abs(change) <= k_most ? steady_ + 1 : 0;
      unsure_ = steady_ > 0 ? unsure_ + change : std::chrono::microseconds(0);
      if (steady_ >= k_steady) gained_ += std::exchange(unsure_, std::chrono::microseconds(0));
    }
    before_ = least_;
    least_ = std::chrono::microseconds::max();
  }

  std::optional<std::chrono::microseconds> ends_at_{}, before_{};
  std::chrono::microseconds least_ =
      std::chrono::microseconds::max();  // as if nothing were removed
  std::chrono::microseconds gained_{}, removed_{}, unsure_{};
  int steady_ = 0;
};

}  // namespace navtalk::server
