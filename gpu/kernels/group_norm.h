// GroupNorm of an NHWC map, with SiLU on the way out and, on the way in, the concatenation of two
// maps on the channel axis, so that neither costs a pass through memory.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct GroupNorm {
  const void* x = nullptr;     // [images, pixels, channels]
  const void* skip = nullptr;  // [images, pixels, skip_channels], or null
  void* y = nullptr;           // [images, pixels, channels + skip_channels]; may be x without skip
  Format format = Format::fp32;
  std::int64_t images = 1, pixels = 0, channels = 0, skip_channels = 0;
  const float* gamma = nullptr;  // [channels + skip_channels]
  const float* beta = nullptr;
  std::int64_t groups = 32;
  float eps = 1e-5F;
  bool silu = true;
};

// Statistics are sums over fixed runs of pixels (fp32 for bf16 maps, double for fp32 ones), joined
// in double: the result does not depend on the number of threads nor on the batch.
void group_norm(const GroupNorm& norm, Isa isa = best_isa());
// The same as y = act(x * scale + shift), for who applies it himself: [images, channels +
// skip_channels] each. norm.y and norm.silu mean nothing here.
void group_norm_affine(const GroupNorm& norm, float* scale, float* shift, Isa isa = best_isa());

}  // namespace navtalk::kernels
