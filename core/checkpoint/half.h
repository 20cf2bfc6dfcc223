// Half and bfloat16 bits as float, exactly.
#pragma once

#include <bit>
#include <cstdint>

namespace navtalk {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

// Shifts exponent and mantissa into place and multiplies the bias away (2^112); subnormal halves
// come out right because the product is exact. Infinity and NaN keep an exponent of all ones.
inline float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = (bits & 0x7fffU) << 13U;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = (bits & 0x7c00U) == 0x7c00U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

}  // namespace navtalk
