// Convolutions of fp32 maps by Winograd's algorithm over tiles of pixels:
//
//   patch --B--> inputs [position][channel] --weights--> products [position][channel] --A--> pixels
//
// Sums are of at most 256 products, which are then added. GroupNorm and SiLU of the input can be applied on the way in, a map added
// and an activation applied on the way out, without a pass through memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/activation.h"
#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

// The convolutions there are; tilings.h says how they are computed. Their zeros at the edges keep the maps' size, or halve it.
enum class TiledKind : std::uint8_t {
  three,  // 3x3: a tile has 4x4 pixels and takes 36 products for each pair of channels instead of 144
  three_halving,  // 3x3 with a stride of 2: 4x4 pixels, 81 products instead of 144
  seven,          // 7x7: 2x2 pixels, 64 products instead of 196
};

struct TiledConv {
  // `weight` [out,in,taps,taps] and `bias` [out]; in and out are multiples of 16.
  TiledConv(TiledKind of_kind, const float* weight, const float* of_bias, std::int64_t inputs,
            std::int64_t outputs, Activation after = Activation::none);

  TiledKind kind;
  std::int64_t in, out;
  Activation activation;
  std::vector<float> weights;  // [part of in][weight][out / 16][in of the part][16]
  std::vector<float> bias;

  // Rows or columns of the result, of a map with n of them.
  std::int64_t size_for(std::int64_t n) const {
    return kind == TiledKind::three_halving ? (n + 1) / 2 : n;
  }
  // Of a map.
  static std::int64_t tiles(TiledKind kind, std::int64_t height, std::int64_t width);
};

// NHWC maps.
struct TiledMaps {
  const float* x = nullptr;    // [images, height, width, in]
  float* y = nullptr;          // [images, size_for(height), size_for(width), out]
  const float* add = nullptr;  // as y and possibly y itself: added before the activation; or null
  std::int64_t images = 1, height = 0, width = 0;
  // SiLU(x * scale + shift) takes the place of x, [images, in] each; or null.
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// On all threads; neither their number nor the other images change an image's result.
void tiled_conv(const TiledConv& conv, const TiledMaps& maps, Isa isa = best_isa());

}  // namespace navtalk::kernels
