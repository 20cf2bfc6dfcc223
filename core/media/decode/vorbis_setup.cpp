#include "core/media/decode/vorbis_setup.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

namespace navtalk::media {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Vorbis packs from the lowest bit on. Beyond the end bits are 0, and ended() is true.
class LowBits {
 public:
  explicit LowBits(Bytes bytes) : bytes_(bytes) {}
  std::uint32_t take(int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      if (ended()) return 0;
      value |= static_cast<std::uint32_t>(bytes_[at_ / 8] >> at_ % 8 & 1) << i;
    }
    return value;
  }
  void skip(std::uint64_t count) { at_ = std::min<std::uint64_t>(at_ + count, bytes_.size() * 8); }
  bool ended() const { return at_ >= bytes_.size() * 8; }

 private:
  Bytes bytes_;
  std::uint64_t at_ = 0;
};

bool is_setup(Bytes packet) {
  constexpr std::string_view k_begin = "\5vorbis";
  return packet.size() > k_begin.size() &&
         std::equal(k_begin.begin(), k_begin.end(), packet.begin());
}

void skip_ordered_lengths(LowBits& bits, std::uint32_t entries) {
  bits.take(5);
  for (std::uint32_t at = 0; at < entries && !bits.ended();)
    at += bits.take(std::bit_width(entries - at));
}

std::uint32_t skip_lengths(LowBits& bits, std::uint32_t entries) {
  const bool sparse = bits.take(1) != 0;
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < entries && !bits.ended(); ++i) {
    if (sparse && bits.take(1) == 0) continue;
    bits.take(5);
    ++used;
  }
  return used;
}

// The largest number whose power `dimensions` is at most `entries`.
std::uint32_t values_of_lattice(std::uint32_t entries, std::uint32_t dimensions) {
  const auto fits = [&](std::uint64_t value) {
    std::uint64_t power = 1;
    for (std::uint32_t i = 0; i < dimensions && power <= entries; ++i) power *= value;
    return power <= entries;
  };
  std::uint32_t value = 1;
  while (value < entries && fits(value + 1)) ++value;
  return value;
}

// Vorbis I specification, 3.2.1; nullopt where FFmpeg gives up.
std::optional<std::int64_t> codebook_bytes(LowBits& bits) {
  constexpr std::uint32_t k_sync = 0x564342, k_most_dimensions = 16, k_most_entries = 1 << 16;
  constexpr int k_bytes_of_code = 128,
                k_bytes_of_value = 4;  // tables of codes at their worst; float
  const bool begins = bits.take(24) == k_sync;
  const std::uint32_t dimensions = bits.take(16), entries = bits.take(24);
  if (!begins || dimensions == 0 || dimensions > k_most_dimensions || entries > k_most_entries)
    return std::nullopt;
  std::uint32_t used = entries;
  if (bits.take(1) != 0)
    skip_ordered_lengths(bits, entries);
  else
    used = skip_lengths(bits, entries);
  const std::uint32_t lookup = bits.take(4);
  if (lookup > 1) return std::nullopt;
  if (lookup == 1) {
    bits.skip(64);
    const std::uint32_t value_bits = bits.take(4) + 1;
    bits.skip(1 + std::uint64_t{values_of_lattice(entries, dimensions)} * value_bits);
  }
  const std::uint32_t values = lookup == 1 ? dimensions : 0;
  return std::int64_t{used} * (k_bytes_of_code + k_bytes_of_value * values);
}

// The third of three packets: with lengths of 16 bits before each, or a 2 and the lengths of the first
// two in bytes of up to 255.
Bytes setup_of(Bytes headers) {
  constexpr std::size_t k_first_header = 30;
  const auto drop = [&](std::size_t size) {
    headers = headers.subspan(std::min(size, headers.size()));
  };
  if (headers.size() >= 6 && (headers[0] << 8 | headers[1]) == k_first_header) {
    for (int i = 0; i < 2 && headers.size() >= 2; ++i)
      drop(2 + std::size_t{headers[0]} * 256 + headers[1]);
    drop(2);
    return headers;
  }
  if (headers.size() < 3 || headers[0] != 2) return {};
  drop(1);
  std::size_t before = 0;
  for (int i = 0; i < 2; ++i) {
    std::uint8_t length = 255;
    while (length == 255 && !headers.empty()) {
      length = headers[0];
      before += length;
      drop(1);
    }
  }
  drop(before);
  return headers;
}

}  // namespace

std::int64_t vorbis_codebook_bytes(Bytes packet) {
  if (!is_setup(packet)) return 0;
  LowBits bits(packet.subspan(7));
  const std::uint32_t count = bits.take(8) + 1;
  std::int64_t all = 0;
  for (std::uint32_t i = 0; i < count && !bits.ended(); ++i) {
    const auto bytes = codebook_bytes(bits);
    if (!bytes) break;
    all += *bytes;
  }
  return all;
}

std::int64_t vorbis_codebook_bytes(const AVCodecParameters& codec) {
  if (codec.codec_id != AV_CODEC_ID_VORBIS || codec.extradata_size <= 0) return 0;
  return vorbis_codebook_bytes(
      setup_of(Bytes(codec.extradata, static_cast<std::size_t>(codec.extradata_size))));
}

}  // namespace navtalk::media
