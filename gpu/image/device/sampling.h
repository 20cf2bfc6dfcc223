// Where a pixel of a resized picture comes from, on the device. Private to gpu/image's kernels.
#pragma once

#include "gpu/cuda/kernel.h"

namespace navtalk::cuda {

// Two neighbours and their weights in 1/2048.
struct LinearTap {
  int first, second, first_weight, second_weight;
};

// Source pixels a destination pixel, as OpenCV computes it.
inline double sampling_scale(int source_size, int destination_size) {
  return destination_size > 0 ? 1.0 / (static_cast<double>(destination_size) / source_size) : 1.0;
}

__device__ inline LinearTap linear_tap(int destination, double scale, int size,
                                       bool clamp_position) {
  // Pixel centres map onto each other; OpenCV rounds to float after the subtraction.
  const auto position = static_cast<float>((destination + 0.5) * scale - 0.5);
  int whole = __float2int_rd(position);
  float fraction = __fadd_rn(position, -static_cast<float>(whole));
  if (clamp_position && (whole < 0 || whole >= size - 1)) {
    whole = whole < 0 ? 0 : size - 1;
    fraction = 0.0F;
  }
  LinearTap tap;
  tap.first = whole < 0 ? 0 : (whole >= size ? size - 1 : whole);
  tap.second = whole + 1 < 0 ? 0 : (whole + 1 >= size ? size - 1 : whole + 1);
  tap.first_weight = __float2int_rn(__fmul_rn(__fadd_rn(1.0F, -fraction), 2048.0F));
  tap.second_weight = __float2int_rn(__fmul_rn(fraction, 2048.0F));
  return tap;
}

// Beyond the border OpenCV moves the position across columns, and only the rows that it reads down rows.
__device__ inline LinearTap column_tap(int x, double scale, int width) {
  return linear_tap(x, scale, width, true);
}
__device__ inline LinearTap row_tap(int y, double scale, int height) {
  return linear_tap(y, scale, height, false);
}

__device__ inline int bilinear(const LinearTap& across, const LinearTap& down, int upper_left,
                               int upper_right, int lower_left, int lower_right) {
  const int upper = (across.first_weight * upper_left + across.second_weight * upper_right) >> 4;
  const int lower = (across.first_weight * lower_left + across.second_weight * lower_right) >> 4;
  return (((down.first_weight * upper) >> 16) + ((down.second_weight * lower) >> 16) + 2) >> 2;
}

// ... 2 1 | 0 1 2 ... n-1 | n-2 ...; repeatedly where the picture is narrower than the reach.
__device__ inline int reflected(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * (n - 1);
  const int phase = ((i % period) + period) % period;
  return phase < n ? phase : period - phase;
}

// x / 255, rounded, for 0 <= x <= 255 * 255.
__device__ inline int divided_by_255(int x) { return (x + 127) / 255; }

}  // namespace navtalk::cuda
