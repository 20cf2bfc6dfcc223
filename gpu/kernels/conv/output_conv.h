// The decoder's last convolution, 3x3 from a narrow map to a picture of three channels. Three
// outputs would leave most lanes of a vector empty; here lanes are the outputs for the pixel's
// left, middle and right neighbour at once, which are joined afterwards: a third of the products.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct OutputConv {
  // `weight` [3,in,3,3] and `bias` [3]; in is a multiple of 2. `format`: of the map.
  OutputConv(Format of_map, const float* weight, const float* of_bias, std::int64_t inputs);

  Format format;
  std::int64_t in;
  // Lane 4 * column + output; those of the other format are empty.
  std::vector<std::uint16_t> bf16_weights;  // [3 rows][in / 2][16][2]
  std::vector<float> fp32_weights;          // [3 rows][in][16]
  float bias[4] = {};
};

// SiLU(x * scale + shift) is convolved: x [images, height, width, in] in the convolution's format, scale and shift
// [images, in]. y [images, height, width, 4] in fp32; the fourth channel means nothing.
struct OutputMaps {
  const void* x = nullptr;
  float* y = nullptr;
  std::int64_t images = 1, height = 0, width = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// On all threads; their number does not change the result.
void output_conv(const OutputConv& conv, const OutputMaps& maps, Isa isa = best_isa());

// One row of the picture, from the three rows of the activated map around it, of float, or of std::uint16_t for bf16.
// `partial` holds 16 * (width + 2) floats. Behind output_conv.
template <class T>
struct OutputRow {
  const T* rows[3] = {};
  std::int64_t in = 0, width = 0;
  const T* weights = nullptr;
  const float* bias = nullptr;
  float* partial = nullptr;
  float* y = nullptr;
};
template <class T>
void portable_output_row(const OutputRow<T>& row);  // float and std::uint16_t
void avx2_output_row(const OutputRow<float>& row);
void avx512_output_row(const OutputRow<std::uint16_t>& row);

}  // namespace navtalk::kernels
