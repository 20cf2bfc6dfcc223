// The unsharp mask of one value, on the device. Private to gpu/image's kernels.
#pragma once

#include "gpu/cuda/kernel.h"
#include "gpu/image/unsharp.h"

namespace navtalk::cuda {

constexpr int k_sharpening_taps = 2 * k_unsharp_reach + 1;

struct Sharpening {
  int weight[k_sharpening_taps];  // of 1/256
  float amount;
  int threshold;
};
Sharpening make_sharpening(const Unsharp& unsharp);

// `around` is the upper left of the k_sharpening_taps rows and columns around the value; `pitch` values a row.
__device__ inline std::uint8_t sharpened(const std::uint8_t* around, int pitch,
                                         const Sharpening& sharpening) {
  std::uint32_t sum = 1U << 15;
  for (int row = 0; row < k_sharpening_taps; ++row) {
    int line = 0;
    for (int column = 0; column < k_sharpening_taps; ++column)
      line += sharpening.weight[column] * around[row * pitch + column];
    sum += static_cast<std::uint32_t>(sharpening.weight[row]) * static_cast<std::uint32_t>(line);
  }
  const int value = around[k_unsharp_reach * pitch + k_unsharp_reach];
  const int detail = value - static_cast<int>(sum >> 16);
  const float amount =
      detail > -sharpening.threshold && detail < sharpening.threshold ? 0.0F : sharpening.amount;
  const float sharp =
      __fadd_rn(static_cast<float>(value), __fmul_rn(amount, static_cast<float>(detail)));
  const int rounded = __float2int_rn(sharp);
  return static_cast<std::uint8_t>(rounded < 0 ? 0 : (rounded > 255 ? 255 : rounded));
}

}  // namespace navtalk::cuda
