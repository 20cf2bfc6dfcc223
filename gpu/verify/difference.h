// How far computed values are from expected ones. Both spans have one length.
#pragma once

#include <cstdint>
#include <span>

namespace navtalk {

struct FloatDifference {
  double max = 0, rms = 0;  // absolute; infinity where a computed value is not finite
  double std = 0;           // of the expected values
};
FloatDifference difference(std::span<const float> computed, std::span<const float> expected);

struct ByteDifference {
  int max = 0;  // grey levels
  double differing_percent = 0;
  double psnr_db = 0;  // infinity when equal
};
ByteDifference difference(std::span<const std::uint8_t> computed,
                          std::span<const std::uint8_t> expected);

}  // namespace navtalk
