// Convolutions of fp32 maps whose channels do not see each other, with odd square kernels and zeros that keep the map's size.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/activation.h"
#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct DepthwiseConv {
  // `weight` [channels,1,taps,taps] and `bias` [channels]; channels is a multiple of 16, taps is odd and at most k_most_taps.
  static constexpr std::int64_t k_most_taps = 7;
  DepthwiseConv(const float* weight, const float* of_bias, std::int64_t of_channels,
                std::int64_t of_taps, Activation after = Activation::none);

  std::int64_t channels, taps;
  Activation activation;
  std::vector<float> weights;  // [taps][taps][channels]
  std::vector<float> bias;
};

// NHWC maps, all of one size.
struct DepthwiseMaps {
  const float* x = nullptr;  // [images, height, width, channels]
  float* y = nullptr;
  const float* add = nullptr;  // possibly y itself: added before the activation; or null
  std::int64_t images = 1, height = 0, width = 0;
};

// On all threads; neither their number nor the other images change an image's result.
void depthwise_conv(const DepthwiseConv& conv, const DepthwiseMaps& maps, Isa isa = best_isa());

}  // namespace navtalk::kernels
