// The inner loops of a direct convolution, one table per instruction set. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/activation.h"

namespace navtalk::kernels {

constexpr std::int64_t k_pixels = 6;    // that are multiplied at once
constexpr std::int64_t k_outputs = 16;  // channels that are made at once
constexpr std::int64_t k_chain = 256;   // products of one sum

struct DirectSteps {
  // sums[p][o], rows `stride` apart, of `depth` channels of k_pixels pixels and weights [depth][k_outputs]; `more`: added to
  // what is there.
  void (*multiply)(const float* const* pixels, const float* weights, std::int64_t depth,
                   float* sums, std::int64_t stride, bool more);
  // y = activation(sums + bias + add) for `count` channels; `add` may be null. sums and bias can be read up to a multiple of 8.
  void (*finish)(const float* sums, const float* bias, const float* add, float* y,
                 std::int64_t count, Activation activation);
};

const DirectSteps& portable_direct_steps();
const DirectSteps& avx2_direct_steps();

}  // namespace navtalk::kernels
