// What a client asks for in session.start (docs/protocol.md). Plain values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace navtalk::server {

struct StartFrame {
  std::string avatar{};        // "": the worker's first
  int width = 0;               // of the video, in pixels; 0: the avatar's own
  int bit_per_s = 2'500'000;   // of the video, at most
  int audio_rate_hz = 16'000;  // of the sound in both directions
  bool opus = false;           // what goes out, at 48 kHz; else PCM as it came in
};

// Error{usage} names a member that has a wrong type or value. Members that are not known are
// ignored.
StartFrame parse_start(const nlohmann::json& frame);

}  // namespace navtalk::server
