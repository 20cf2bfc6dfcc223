#include "core/media/decode/picture/png_orientation.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace navtalk::media {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::uint32_t number(Bytes bytes, std::size_t at, std::size_t size, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | bytes[at + (big_endian ? i : size - 1 - i)];
  return value;
}

// Signature, then chunks: big-endian length, name, data, checksum.
Bytes exif_chunk(Bytes file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = number(file, at, 4, true);
    const std::string_view name(reinterpret_cast<const char*>(file.data()) + at + 4, 4);
    if (name == "IDAT" || length > file.size() - at - 12) return {};
    if (name == "eXIf") return file.subspan(at + 8, length);
    at += 12 + length;
  }
  return {};
}

// A TIFF header, "II" or "MM", 42, the offset of a directory; there a count, and entries of twelve
// bytes: tag, type, count, value.
std::optional<std::uint32_t> exif_orientation(Bytes exif) {
  constexpr std::size_t k_header = 8, k_entry = 12;
  constexpr std::uint32_t k_orientation = 0x112, k_short = 3;
  if (exif.size() < k_header || exif[0] != exif[1] || (exif[0] != 'I' && exif[0] != 'M'))
    return std::nullopt;
  const bool big_endian = exif[0] == 'M';
  const std::size_t directory = number(exif, 4, 4, big_endian);
  if (directory > exif.size() - 2) return std::nullopt;
  const std::size_t count = number(exif, directory, 2, big_endian);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = directory + 2 + i * k_entry;
    if (at + k_entry > exif.size()) break;
    if (number(exif, at, 2, big_endian) == k_orientation &&
        number(exif, at + 2, 2, big_endian) == k_short)
      return number(exif, at + 8, 2, big_endian);
  }
  return std::nullopt;
}

}  // namespace

Orientation png_orientation(Bytes file) {
  // By EXIF's numbers from 1: where the stored picture's first row and column are shown.
  constexpr std::array<Orientation, 8> k_turns{{{false, false, false},
                                                {false, true, false},
                                                {false, true, true},
                                                {false, false, true},
                                                {true, false, false},
                                                {true, true, false},
                                                {true, true, true},
                                                {true, false, true}}};
  const std::optional<std::uint32_t> turn = exif_orientation(exif_chunk(file));
  return turn && *turn >= 1 && *turn <= k_turns.size() ? k_turns[*turn - 1] : Orientation{};
}

}  // namespace navtalk::media
