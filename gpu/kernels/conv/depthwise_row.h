// One row of a depthwise convolution, a function per instruction set. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/conv/depthwise_conv.h"

namespace navtalk::kernels {

struct DepthwiseRow {
  const DepthwiseConv* conv = nullptr;
  // The rows under the kernel, each from column 0 of the map on; zeros where the map ends.
  const float* rows[DepthwiseConv::k_most_taps] = {};
  std::int64_t width = 0;
  float* y = nullptr;          // [width][channels]
  const float* add = nullptr;  // as y; or null
};

void portable_depthwise_row(const DepthwiseRow& row);
void avx2_depthwise_row(const DepthwiseRow& row);
void avx512_depthwise_row(const DepthwiseRow& row);

}  // namespace navtalk::kernels
