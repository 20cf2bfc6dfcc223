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
  void take(Lane lane, int count = 1) { of(lane) += count; }
  void give_back(Lane lane, int count = 1) { of(lane) -= count; }

  // Until `to` nothing has changed.
  void advance(TimePoint to) {
    const Duration passed = to - now_;
    left_ += passed * (all_ - live_);
    lent_time_ += passed * lent_;
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

  // Slot time that users left, and what of it was lent.
  Duration left() const { return left_; }
  Duration lent_time() const { return lent_time_; }
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
  Duration left_{}, lent_time_{};
  std::vector<Hour> hours_{};
};

}  // namespace navtalk
