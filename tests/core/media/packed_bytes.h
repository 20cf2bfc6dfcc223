// Numbers as headers of media hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace navtalk::test {

inline std::string little_endian_text(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Bits from the lowest one on, as Vorbis packs them.
struct LowBitText {
  std::string bytes{};
  std::size_t bits = 0;
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, ++bits) {
      if (bits % 8 == 0) bytes += '\0';
      if ((value >> i & 1) != 0) bytes.back() = static_cast<char>(bytes.back() | 1 << bits % 8);
    }
  }
  void put_text(const std::string& text) {
    for (const char c : text) put(static_cast<unsigned char>(c), 8);
  }
};

}  // namespace navtalk::test
