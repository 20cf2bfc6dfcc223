// A row of a depthwise convolution over vectors of k_lanes floats. Only for depthwise_row_avx2.cpp and _avx512.cpp, which include
// the vectors of their width before; all of it has internal linkage. Both widths give the same sums.
#pragma once

#include "gpu/kernels/conv/depthwise_row.h"

namespace navtalk::kernels {
namespace {

using Vector = Floats::Vector;
constexpr std::int64_t k_together = 8;  // pixels whose sums stay in registers

// k_lanes channels from `c` on of `count` pixels from `x` on; `inner`: no tap of theirs lies beyond the row's ends.
template <Activation activation, std::int64_t count, bool inner>
inline void pixels_of(const DepthwiseRow& row, std::int64_t x, std::int64_t c) {
  const std::int64_t channels = row.conv->channels, taps = row.conv->taps;
  const std::int64_t left = x - taps / 2;
  const float* weight = row.conv->weights.data() + c;
  Vector sums[count];
  for (std::int64_t p = 0; p < count; ++p) sums[p] = Floats::load(row.conv->bias.data() + c);
  for (std::int64_t i = 0; i < taps; ++i) {
    const float* from = row.rows[i] + left * channels + c;
    for (std::int64_t j = 0; j < taps; ++j, weight += channels, from += channels) {
      const Vector w = Floats::load(weight);
#pragma GCC unroll 8
      for (std::int64_t p = 0; p < count; ++p) {
        const std::int64_t at = left + j + p;
        if (!inner && (at < 0 || at >= row.width)) continue;
        sums[p] = Floats::multiply_add(Floats::load(from + p * channels), w, sums[p]);
      }
    }
  }
  for (std::int64_t p = 0; p < count; ++p) {
    const std::int64_t to = (x + p) * channels + c;
    if (row.add != nullptr) sums[p] = Floats::add(sums[p], Floats::load(row.add + to));
    Floats::store(row.y + to, activated<activation>(sums[p]));
  }
}

template <Activation activation>
void row_with(const DepthwiseRow& row) {
  const std::int64_t half = row.conv->taps / 2;
  for (std::int64_t c = 0; c < row.conv->channels; c += k_lanes)
    for (std::int64_t x = 0; x < row.width;) {
      if (x >= half && x + k_together + half <= row.width) {
        pixels_of<activation, k_together, true>(row, x, c);
        x += k_together;
      } else {
        pixels_of<activation, 1, false>(row, x, c);
        ++x;
      }
    }
}

void row_of(const DepthwiseRow& row) {
  switch (row.conv->activation) {
    case Activation::none:
      return row_with<Activation::none>(row);
    case Activation::relu:
      return row_with<Activation::relu>(row);
    case Activation::silu:
      return row_with<Activation::silu>(row);
  }
}

}  // namespace
}  // namespace navtalk::kernels
