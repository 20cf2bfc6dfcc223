// 3x3 convolutions tile by tile, with fewer multiplications than taps: Winograd's
// F(2x2, 3x3) (Lavin and Gray, 2015), and the same idea for a convolution of a doubled map.
//
//   same     a 4x4 patch makes 2x2 pixels: 16 products instead of 36. bf16 only: fp32 has tiled_conv.h
//   doubled  a 3x3 patch of the small map makes the 2x2 pixels that its middle becomes:
//            9 products instead of 36 (16 in the sub-pixel form)
//
//   patch --B--> inputs [position][channel] --weights--> products [position][channel] --A--> pixels
//
// Sums and differences are fp32; of bf16 maps, inputs and weights of the products are rounded to bf16 after the change
// of base, which costs a decoder a tenth of its exactness (see docs/experiments/rendering-speed.md). GroupNorm and SiLU
// of the input can be applied on the way in, and a map added on the way out, without a pass through memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

enum class WinogradKind : std::uint8_t { same, doubled };
inline int patch_side(WinogradKind kind) { return kind == WinogradKind::same ? 4 : 3; }

struct WinogradConv {
  // `weight` [out,in,3,3] and `bias` [out]; in and out are multiples of 16. `format`: of the maps, bf16 for
  // WinogradKind::same.
  WinogradConv(WinogradKind of_kind, Format of_maps, const float* weight, const float* of_bias,
               std::int64_t inputs, std::int64_t outputs);

  WinogradKind kind;
  Format format;
  std::int64_t in, out;
  // How the products read them; those of the other format are empty.
  std::vector<std::uint16_t> bf16_weights;  // [position][out / 16][in / 2][16][2]
  std::vector<float> fp32_weights;          // [position][out / 16][in][16]
  std::vector<float> bias;
};

// NHWC maps of the convolution's format.
struct WinogradMaps {
  const void* x = nullptr;  // [images, height, width, in]
  // y of size [images, height, width, out], or twice as high and wide for WinogradKind::doubled. `same`
  // takes even heights and widths only.
  void* y = nullptr;
  const void* add = nullptr;  // as y and possibly y itself: added to the result; or null
  std::int64_t images = 1, height = 0, width = 0;
  // SiLU(x * scale + shift) takes the place of x, [images, in] each; or null.
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// On all threads; their number does not change the result.
void winograd_conv(const WinogradConv& conv, const WinogradMaps& maps, Isa isa = best_isa());

}  // namespace navtalk::kernels
