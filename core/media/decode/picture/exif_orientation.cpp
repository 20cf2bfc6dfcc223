#include "core/media/decode/picture/exif_orientation.h"

#include <algorithm>
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

// Segments: FF, marker, big-endian length that counts itself, data. Of several the last one counts.
Bytes exif_segment(Bytes file) {
  constexpr std::uint8_t k_start_of_scan = 0xDA, k_app1 = 0xE1;
  constexpr std::string_view k_name("Exif\0\0", 6);
  Bytes found;
  for (std::size_t at = 2; at + 4 <= file.size() && file[at] == 0xFF;) {
    const std::uint8_t marker = file[at + 1];
    if (marker == k_start_of_scan) break;
    if (marker == 0xFF) {  // filler
      ++at;
      continue;
    }
    const std::size_t length = number(file, at + 2, 2, true);
    if (length < 2 || length > file.size() - at - 2) break;
    const Bytes data = file.subspan(at + 4, length - 2);
    const std::string_view name(reinterpret_cast<const char*>(data.data()),
                                std::min(data.size(), k_name.size()));
    if (marker == k_app1 && name == k_name) found = data.subspan(k_name.size());
    at += 2 + length;
  }
  return found;
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

Orientation orientation_of(Bytes exif) {
  // By EXIF's numbers from 1: where the stored picture's first row and column are shown.
  constexpr std::array<Orientation, 8> k_turns{{{false, false, false},
                                                {false, true, false},
                                                {false, true, true},
                                                {false, false, true},
                                                {true, false, false},
                                                {true, true, false},
                                                {true, true, true},
                                                {true, false, true}}};
  const std::optional<std::uint32_t> turn = exif_orientation(exif);
  return turn && *turn >= 1 && *turn <= k_turns.size() ? k_turns[*turn - 1] : Orientation{};
}

}  // namespace

Orientation png_orientation(Bytes file) { return orientation_of(exif_chunk(file)); }

Orientation jpeg_orientation(Bytes file) { return orientation_of(exif_segment(file)); }

}  // namespace navtalk::media
