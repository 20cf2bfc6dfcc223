// Reads little-endian numbers and runs of bytes from a span, front to back; every step is checked
// against the end. A value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace navtalk {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes, std::size_t position = 0)
      : bytes_(bytes), position_(position) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  // The next `count` bytes; Error{invalid} with the position when fewer are left.
  std::span<const std::byte> take(std::uint64_t count);
  std::string_view take_text(std::uint64_t count);
  std::string_view take_line();  // up to '\n', which is consumed and not returned
  std::uint8_t u8() { return static_cast<std::uint8_t>(little_endian(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(little_endian(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(little_endian(4)); }
  std::uint64_t u64() { return little_endian(8); }

 private:
  std::uint64_t little_endian(std::size_t count);

  std::span<const std::byte> bytes_;
  std::size_t position_;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace navtalk
