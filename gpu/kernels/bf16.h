// bfloat16 as its 16 bits: the upper half of a float, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace navtalk::kernels {

inline float to_float(float x) { return x; }
inline float to_float(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16U); }

inline void store(float x, float& out) { out = x; }
inline void store(float x, std::uint16_t& out) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  out = nan ? std::uint16_t{0x7fc0}
            : static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace navtalk::kernels
