#include "core/checkpoint/byte_cursor.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace navtalk {

std::span<const std::byte> ByteCursor::take(std::uint64_t count) {
  if (count > left())
    throw Error(Code::invalid, fmt::format("truncated: {} bytes wanted at byte {}, {} are left",
                                           count, position_, left()));
  const auto taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

std::string_view ByteCursor::take_text(std::uint64_t count) { return as_text(take(count)); }

std::string_view ByteCursor::take_line() {
  const std::string_view rest = as_text(bytes_.subspan(position_));
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos)
    throw Error(Code::invalid, fmt::format("truncated: no end of line after byte {}", position_));
  position_ += end + 1;
  return rest.substr(0, end);
}

std::uint64_t ByteCursor::little_endian(std::size_t count) {
  std::uint64_t value = 0;
  const auto bytes = take(count);
  for (std::size_t i = 0; i < count; ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace navtalk
