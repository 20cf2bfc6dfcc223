#include "scheduler/health/kept_view.h"

#include <utility>

namespace navtalk {

const PoolView& KeptView::current() {
  const Clock::time_point now = Clock::now();
  // Only who looks again asks for the number of changes: the store may have to listen for them.
  if (view_ && at_most_ > Duration{}) {
    const std::uint64_t before = std::exchange(changes_, store_.wait_for_change(changes_, {}, {}));
    if (changes_ == before && now - read_at_ < at_most_) return *view_;
  }
  view_.reset();
  view_ = store_.view();
  read_at_ = now;
  return *view_;
}

}  // namespace navtalk
