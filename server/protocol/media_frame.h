// The binary frames of a live session from the server to the client (docs/protocol.md): a header of
// 16 bytes, then sound or an access unit. Plain functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/socket/frame.h"

namespace navtalk::server {

enum class MediaKind : std::uint8_t { pcm = 1, opus = 2, video = 3 };

namespace media_flag {
inline constexpr std::uint8_t key = 1, speaks = 2, discontinuity = 4;
}  // namespace media_flag

struct MediaHeader {
  MediaKind kind = MediaKind::pcm;
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;        // of this kind
  std::chrono::microseconds time{};  // of presentation, on the session's clock
};

Frame media_frame(const MediaHeader& header, std::string_view content);
// nullopt for bytes that do not begin with the header of a known kind.
std::optional<MediaHeader> media_header(std::string_view frame);
// Of a frame that has a header.
void add_flags(Frame& frame, std::uint8_t flags);
// PCM16LE.
std::string bytes_of(std::span<const std::int16_t> samples);
std::vector<std::int16_t> samples_of(std::string_view bytes);  // of a whole number of samples

}  // namespace navtalk::server
