// What the live sessions of one worker add up to, for /metrics.
#pragma once

#include <array>
#include <cstdint>

#include "avatars/live/live_rate.h"

namespace navtalk::server {

struct LiveCounters {
  std::uint64_t pictures = 0;                       // sent
  std::uint64_t generated = 0;                      // of them, with lips from the nets
  std::uint64_t skipped = 0;                        // not made, because their time was over
  std::uint64_t dropped = 0;                        // not sent, because the client did not read
  std::uint64_t overflows = 0;                      // messages of sound that found no room
  std::uint64_t rate_changes = 0;                   // of the pictures a second of a session
  std::array<int, k_live_rates.size()> sessions{};  // now, by their rate
  double face_seconds = 0;                          // from asking for lips until they were made
  double compose_seconds = 0, encode_seconds = 0;   // spent on pictures
  double left_out_seconds = 0;                      // of sound, because clients' clocks are faster
  double sound_ahead_seconds =
      0;  // of the picture, in time of presentation, when that was sent last
};

}  // namespace navtalk::server
