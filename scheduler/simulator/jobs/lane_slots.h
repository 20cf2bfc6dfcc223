// The slots that the simulated lanes share, and how long each lane had them. Plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/time.h"
#include "scheduler/pool/session.h"

namespace navtalk {

class LaneSlots {
 public:
  LaneSlots(int slots, TimePoint from) : all_(slots), from_(from), now_(from) {}

  int free() const { return all_ - live_ - lent_; }
  int lent() const { return lent_; }
  int live() const { return live_; }
  void take(Lane lane, int count = 1) { of(lane) += count; }
  void give_back(Lane lane, int count = 1) { of(lane) -= count; }
  // Slots that come, or go while they are free.
  void add(int count) { all_ += count; }
  void remove(int count) { all_ -= count; }

  // Until `to` nothing has changed.
  void advance(TimePoint to) {
    const Duration passed = to - now_;
    time_ += passed * all_;
    left_ += passed * (all_ - live_);
    for (TimePoint at = now_; at < to;) {
      const auto hour = static_cast<std::size_t>((at - from_) / std::chrono::hours(1));
      const TimePoint ends = from_ + std::chrono::hours(1) * static_cast<int>(hour + 1);
      const Duration part = std::min(to, ends) - at;
      if (hours_.size() <= hour) hours_.resize(hour + 1);
      hours_[hour].live_s += in_seconds(part) * live_;
      hours_[hour].lent_s += in_seconds(part) * lent_;
      at += part;
    }
    now_ = to;
    most_lent_ = std::max(most_lent_, lent_);
  }

  // Time of all slots, and of those that users left.
  Duration time() const { return time_; }
  Duration left() const { return left_; }
  int most_lent() const { return most_lent_; }
  // Slot seconds in each hour from the beginning.
  struct Hour {
    double live_s = 0, lent_s = 0;
  };
  const std::vector<Hour>& hours() const { return hours_; }

 private:
  int& of(Lane lane) { return lane == Lane::live ? live_ : lent_; }

  int all_, live_ = 0, lent_ = 0, most_lent_ = 0;
  TimePoint from_, now_;
  Duration time_{}, left_{};
  std::vector<Hour> hours_{};
};

}  // namespace navtalk
