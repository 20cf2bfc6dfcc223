#include "scheduler/scaling/target_window.h"

namespace navtalk {

void TargetWindow::add(TimePoint at, int target) {
  while (targets_.size() > first_ && targets_.back().target <= target) targets_.pop_back();
  if (first_ == targets_.size()) {
    targets_.clear();
    first_ = 0;
  }
  targets_.push_back({at, target});
}

void TargetWindow::forget(TimePoint before) {
  while (first_ < targets_.size() && targets_[first_].at < before) ++first_;
  if (first_ > 64 && first_ * 2 > targets_.size()) {
    targets_.erase(targets_.begin(), targets_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace navtalk
