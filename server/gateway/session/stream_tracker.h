// Where the media of a session stand, from the headers of the frames that a gateway passes on: the next
// sequence numbers, and the session's clock. Only the gateway's own steady clock is used, so the clocks
// of gateway and worker may differ. Pure; one session's.
#pragma once

#include <chrono>
#include <optional>

#include "server/protocol/media_frame.h"
#include "server/protocol/start_frame.h"

namespace navtalk::server {

class StreamTracker {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StreamTracker(Clock::time_point begin) : last_at_(begin) {}

  void note(const MediaHeader& header, Clock::time_point now);
  // Where another worker goes on now: after everything that was noted. nullopt: no media yet.
  std::optional<StreamPosition> position(Clock::time_point now) const;
  // Since the last frame of media, or since the beginning.
  Clock::duration since_last(Clock::time_point now) const;

 private:
  StreamPosition next_{};  // its clock is that of the latest frame
  std::optional<Clock::time_point> latest_at_{};
  Clock::time_point last_at_;
};

}  // namespace navtalk::server
