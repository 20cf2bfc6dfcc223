// How fast a connection is read, for a peer that has no claim to more yet. Beyond the rate reading is
// paused, so that the peer's bytes wait at the peer; one whose bytes wait for as long as `patience`
// sends too fast. Pure: the time is given. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "server/http/socket/token_bucket.h"

namespace navtalk::server {

struct PaceLimits {
  TokenBucket::Rate bytes{.burst = 32 << 10, .per_second = 4 << 10};
  std::chrono::milliseconds patience{10'000};
};

class ReadPace {
 public:
  using Clock = TokenBucket::Clock;

  ReadPace(const PaceLimits& limits, Clock::time_point now);

  // How many bytes may be read now; 0: none before pause(). `unread`: bytes of the peer that wait.
  std::size_t allowed(std::size_t unread, Clock::time_point now);
  // Until it is worth asking again.
  Clock::duration pause(Clock::time_point now);
  void note_read(std::size_t bytes, Clock::time_point now);
  // Once true it stays true.
  bool too_fast() const { return too_fast_; }

 private:
  std::size_t quantum() const;

  PaceLimits limits_;
  TokenBucket bucket_;
  std::optional<Clock::time_point> behind_since_{};  // there have been unread bytes at every look
  bool too_fast_ = false;
};

}  // namespace navtalk::server
