// What a client asks for in session.start (docs/protocol.md). Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace navtalk::server {

// Where a session stands that goes on at another worker. Only a gateway says so.
struct StreamPosition {
  std::chrono::microseconds clock{};       // the session's, as the frame is sent
  std::uint32_t sounds = 0, pictures = 0;  // the next sequence numbers

  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

struct StartFrame {
  std::string avatar{};                      // "": the worker's first
  int width = 0;                             // of the video, in pixels; 0: the avatar's own
  int bit_per_s = 2'500'000;                 // of the video, at most
  int audio_rate_hz = 16'000;                // of the sound in both directions
  bool opus = false;                         // what goes out, at 48 kHz; else PCM as it came in
  std::optional<StreamPosition> position{};  // nullopt: the session begins
};

// Error{usage} names a member that has a wrong type or value. Members that are not known are
// ignored.
StartFrame parse_start(const nlohmann::json& frame);

// Why an avatar of that size cannot be shown `start.width` pixels wide: that is wider than 1920 pixels and than the avatar, or the
// height would be out of bounds. nullopt: it can.
std::optional<std::string> size_fault(const StartFrame& start, int width, int height);

// The text of a client's session.start as a gateway passes it on: without what is between the client
// and the gateway, and with the position where there is one. `frame` is an object.
std::string start_for_worker(nlohmann::json frame, const std::optional<StreamPosition>& position);

}  // namespace navtalk::server
