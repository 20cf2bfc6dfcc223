// The decoder's last convolution, 3x3 from a narrow bf16 map to a picture of three channels. Three
// outputs would leave most lanes of a vector empty; here lanes are the outputs for the pixel's
// left, middle and right neighbour at once, which are joined afterwards: a third of the products.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct OutputConv {
  // `weight` [3,in,3,3] and `bias` [3]; in is a multiple of 2.
  OutputConv(const float* weight, const float* of_bias, std::int64_t inputs);

  std::int64_t in;
  // bf16 [3 rows][in / 2][16][2], lane 4 * column + output.
  std::vector<std::uint16_t> weights;
  float bias[4] = {};
};

// SiLU(x * scale + shift) is convolved: x [images, height, width, in] in bf16, scale and shift
// [images, in]. y [images, height, width, 4] in fp32; the fourth channel means nothing.
struct OutputMaps {
  const std::uint16_t* x = nullptr;
  float* y = nullptr;
  std::int64_t images = 1, height = 0, width = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// On all threads; their number does not change the result.
void output_conv(const OutputConv& conv, const OutputMaps& maps, Isa isa = best_isa());

// One row of the picture, from the three rows of the activated map around it. `partial` holds
// 16 * (width + 2) floats. Behind output_conv.
struct OutputRow {
  const std::uint16_t* rows[3] = {};
  std::int64_t in = 0, width = 0;
  const std::uint16_t* weights = nullptr;
  const float* bias = nullptr;
  float* partial = nullptr;
  float* y = nullptr;
};
void portable_output_row(const OutputRow& row);
void avx512_output_row(const OutputRow& row);

}  // namespace navtalk::kernels
