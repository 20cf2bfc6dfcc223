#include "server/gateway/session/stream_tracker.h"

namespace navtalk::server {

void StreamTracker::note(const MediaHeader& header, Clock::time_point now) {
  (header.kind == MediaKind::video ? next_.pictures : next_.sounds) = header.sequence + 1;
  last_at_ = now;
  // Sound and pictures of one time come one after the other; the clock is where the first of them says.
  if (latest_at_ && header.time <= next_.clock) return;
  next_.clock = header.time;
  latest_at_ = now;
}

std::optional<StreamPosition> StreamTracker::position(Clock::time_point now) const {
  using std::chrono::microseconds;
  constexpr microseconds k_slot{40'000};  // no two frames of a kind have one time
  if (!latest_at_) return std::nullopt;
  StreamPosition position = next_;
  const auto since = std::chrono::duration_cast<microseconds>(now - *latest_at_);
  position.clock = std::max(microseconds{}, next_.clock + std::max(since, k_slot));
  return position;
}

StreamTracker::Clock::duration StreamTracker::since_last(Clock::time_point now) const {
  return now - last_at_;
}

}  // namespace navtalk::server
