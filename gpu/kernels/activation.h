// What is applied to a layer's results on their way out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace navtalk::kernels {

enum class Activation : std::uint8_t { none, relu, silu };

// In plain loops.
inline float activated(Activation activation, float x) {
  if (activation == Activation::relu) return std::max(x, 0.0F);
  if (activation == Activation::silu) return x / (1.0F + std::exp(-x));
  return x;
}

}  // namespace navtalk::kernels
