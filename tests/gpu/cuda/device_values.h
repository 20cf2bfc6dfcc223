// Values in a kernel's number format, and how far those that it made are from those that were expected.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/cuda/format.h"
#include "tests/gpu/cuda/device_memory.h"

namespace navtalk::tests {

// The same every time: `offset` and up to 2.5 to both sides.
inline std::vector<float> scattered(std::size_t count, unsigned seed, float offset = 0) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value = offset + (static_cast<float>(generator() % 20001) - 10000.0F) / 4000.0F;
  return values;
}

inline std::vector<std::uint8_t> encoded(const std::vector<float>& values, cuda::Format format) {
  if (format == cuda::Format::fp32) return bytes_of(values);
  std::vector<__half> halves;
  for (const float value : values) halves.push_back(__float2half_rn(value));
  return bytes_of(halves);
}

inline std::vector<float> decoded(const std::vector<std::uint8_t>& bytes, cuda::Format format) {
  std::vector<float> values(bytes.size() / cuda::item_size(format));
  for (std::size_t i = 0; i < values.size(); ++i) {
    __half half;
    if (format == cuda::Format::fp32)
      std::memcpy(&values[i], &bytes[4 * i], 4);
    else
      std::memcpy(static_cast<void*>(&half), &bytes[2 * i], 2), values[i] = __half2float(half);
  }
  return values;
}

// The largest difference, in roundings of the format: a value of 1 has an error of up to 1.
inline double furthest_rounding(const std::vector<float>& got, const std::vector<float>& expected,
                                double rounding) {
  REQUIRE(got.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (!(difference >= 0)) return INFINITY;  // NaN
    most = std::max(most, difference / (rounding * std::max(1.0F, std::abs(expected[i]))));
  }
  return most;
}

}  // namespace navtalk::tests
