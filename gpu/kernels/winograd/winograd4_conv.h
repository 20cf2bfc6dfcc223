// 3x3 convolutions of fp32 maps by Winograd's F(4x4, 3x3) (Lavin and Gray, 2015): a 6x6 patch makes 4x4 pixels with 36
// products for each pair of channels instead of 144.
//
//   patch --B--> inputs [position][channel] --weights--> products [position][channel] --A--> pixels
//
// The points are 0, 5/8, -5/8, 5/4, -5/4 and infinity: the usual ones (0, 1, -1, 2, -2, infinity) round twice as much. Sums are
// of at most 256 products, which are then added. GroupNorm and SiLU of the input can be applied on the way in, a map added
// and an activation applied on the way out, without a pass through memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/activation.h"
#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct Winograd4Conv {
  // `weight` [out,in,3,3] and `bias` [out]; in and out are multiples of 16.
  Winograd4Conv(const float* weight, const float* of_bias, std::int64_t inputs,
                std::int64_t outputs, Activation after = Activation::none);

  std::int64_t in, out;
  Activation activation;
  std::vector<float> weights;  // [part of in][position][out / 16][in of the part][16]
  std::vector<float> bias;
};

// NHWC maps.
struct Winograd4Maps {
  const float* x = nullptr;    // [images, height, width, in]
  float* y = nullptr;          // [images, height, width, out]
  const float* add = nullptr;  // as y and possibly y itself: added before the activation; or null
  std::int64_t images = 1, height = 0, width = 0;
  // SiLU(x * scale + shift) takes the place of x, [images, in] each; or null.
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// On all threads; neither their number nor the other images change an image's result.
void winograd4_conv(const Winograd4Conv& conv, const Winograd4Maps& maps, Isa isa = best_isa());

}  // namespace navtalk::kernels
