#include "server/protocol/media_frame.h"

#include <bit>
#include <cstring>

#include "core/base/check.h"

namespace navtalk::server {
namespace {

constexpr std::size_t k_header_bytes = 16;

// All machines that navtalk runs on are little-endian, as is the protocol.
static_assert(std::endian::native == std::endian::little);

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number read(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

Frame media_frame(const MediaHeader& header, std::string_view content) {
  Frame frame{.text = false};
  frame.bytes.reserve(k_header_bytes + content.size());
  append(frame.bytes, static_cast<std::uint8_t>(header.kind));
  append(frame.bytes, header.flags);
  append(frame.bytes, std::uint16_t{0});
  append(frame.bytes, header.sequence);
  append(frame.bytes, std::int64_t{header.time.count()});
  frame.bytes += content;
  return frame;
}

std::optional<MediaHeader> media_header(std::string_view frame) {
  if (frame.size() < k_header_bytes) return std::nullopt;
  const auto kind = static_cast<MediaKind>(frame[0]);
  if (kind != MediaKind::pcm && kind != MediaKind::opus && kind != MediaKind::video) {
    return std::nullopt;
  }
  return MediaHeader{.kind = kind,
                     .flags = static_cast<std::uint8_t>(frame[1]),
                     .sequence = read<std::uint32_t>(frame, 4),
                     .time = std::chrono::microseconds(read<std::int64_t>(frame, 8))};
}

void add_flags(Frame& frame, std::uint8_t flags) {
  NAVTALK_CHECK(frame.bytes.size() >= k_header_bytes);
  frame.bytes[1] = static_cast<char>(static_cast<std::uint8_t>(frame.bytes[1]) | flags);
}

std::string bytes_of(std::span<const std::int16_t> samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size_bytes()};
}

std::vector<std::int16_t> samples_of(std::string_view bytes) {
  std::vector<std::int16_t> samples(bytes.size() / sizeof(std::int16_t));
  std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(std::int16_t));
  return samples;
}

}  // namespace navtalk::server
