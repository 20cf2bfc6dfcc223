#include "server/worker/live/media_frame.h"

#include <bit>
#include <cstring>

namespace navtalk::server {
namespace {

// All machines that navtalk runs on are little-endian, as is the protocol.
static_assert(std::endian::native == std::endian::little);

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

Frame media_frame(const MediaHeader& header, std::string_view content) {
  Frame frame{.text = false};
  frame.bytes.reserve(16 + content.size());
  append(frame.bytes, static_cast<std::uint8_t>(header.kind));
  append(frame.bytes, header.flags);
  append(frame.bytes, std::uint16_t{0});
  append(frame.bytes, header.sequence);
  append(frame.bytes, std::int64_t{header.time.count()});
  frame.bytes += content;
  return frame;
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
