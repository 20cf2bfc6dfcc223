// BT.709, limited range, of one pixel or of the mean of four, on the device. Private to gpu/image's kernels.
#pragma once

#include "gpu/cuda/kernel.h"

namespace navtalk::cuda {

struct Bgr {
  float b, g, r;
};

__device__ inline std::uint8_t level(float value) {
  const int rounded = __float2int_rn(value);
  return static_cast<std::uint8_t>(rounded < 0 ? 0 : (rounded > 255 ? 255 : rounded));
}

// Y' = 16 + 219 (0.2126 R + 0.7152 G + 0.0722 B); Cb and Cr are 128 + 224 times (B - Y') / 1.8556 and (R - Y') / 1.5748.
__device__ inline float luma_share(const Bgr& p) {
  return 0.0722F * p.b + 0.7152F * p.g + 0.2126F * p.r;
}
__device__ inline std::uint8_t luma(const Bgr& p) {
  return level(16.0F + 219.0F / 255.0F * luma_share(p));
}
__device__ inline std::uint8_t chroma_blue(const Bgr& p) {
  return level(128.0F + 224.0F / 255.0F / 1.8556F * (p.b - luma_share(p)));
}
__device__ inline std::uint8_t chroma_red(const Bgr& p) {
  return level(128.0F + 224.0F / 255.0F / 1.5748F * (p.r - luma_share(p)));
}

__device__ inline Bgr from_yuv(int y, int u, int v) {
  const float light = 255.0F / 219.0F * static_cast<float>(y - 16);
  const float cb = 255.0F / 224.0F * static_cast<float>(u - 128),
              cr = 255.0F / 224.0F * static_cast<float>(v - 128);
  return {light + 1.8556F * cb,
          light - 1.8556F * 0.0722F / 0.7152F * cb - 1.5748F * 0.2126F / 0.7152F * cr,
          light + 1.5748F * cr};
}

}  // namespace navtalk::cuda
