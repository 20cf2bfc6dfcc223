#include "core/checkpoint/pickle/numpy_number.h"

#include <bit>

#include "core/checkpoint/half.h"

namespace navtalk {
namespace {

std::uint64_t bits_of(const PickleDtype& dtype, std::string_view data) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t from_low = dtype.big_endian ? data.size() - 1 - i : i;
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(data[i])) << (8 * from_low);
  }
  return bits;
}

double real_of(std::size_t bytes, std::uint64_t bits) {
  if (bytes == 8) return std::bit_cast<double>(bits);
  if (bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return half_to_float(static_cast<std::uint16_t>(bits));
}

std::int64_t sign_extended(std::size_t bytes, std::uint64_t bits) {
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

Node number_node(const PickleDtype& dtype, std::string_view data) {
  const std::uint64_t bits = bits_of(dtype, data);
  switch (dtype.kind) {
    case 'b':
      return {.kind = NodeKind::boolean, .integer = bits != 0 ? 1 : 0};
    case 'f':
      return {.kind = NodeKind::real, .real = real_of(dtype.bytes, bits)};
    case 'i':
      return {.kind = NodeKind::integer, .integer = sign_extended(dtype.bytes, bits)};
    default:
      break;
  }
  if (static_cast<std::int64_t>(bits) < 0) return {.kind = NodeKind::opaque};
  return {.kind = NodeKind::integer, .integer = static_cast<std::int64_t>(bits)};
}

}  // namespace navtalk
