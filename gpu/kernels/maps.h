// Copies between layouts and sizes that the nets need.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

// Sub-pixel rearrangement. x [images, h+1, w+1, 4, channels] holds, for phase p = 2*py + px, the
// 2x2 convolution on the padded small grid; y [images, 2h, 2w, channels]:
// y[2i+py][2j+px] = x[i+py][j+px][p].
void interleave_phases(const void* x, void* y, Format format, std::int64_t images, std::int64_t h,
                       std::int64_t w, std::int64_t channels);

// The decoder's output, x[pixel * stride + 0..2] RGB in about [-1,1], to BGR bytes [pixels, 3]:
// x/2 + 0.5, clamped, times 255, rounded half to even. NaN becomes 0.
void to_bgr_bytes(const void* x, std::int64_t stride, Format format, std::int64_t pixels,
                  std::uint8_t* y);

// Planes [planes, h, w] to y [planes, to_h, to_w], linear in both directions, corners upon corners (PyTorch's
// interpolate(mode="bilinear", align_corners=True), to within rounding). Sides are 1 or more.
void enlarge_planes(const float* x, float* y, std::int64_t planes, std::int64_t h, std::int64_t w,
                    std::int64_t to_h, std::int64_t to_w);

}  // namespace navtalk::kernels
