// GroupNorm of an NHWC map in device memory, with SiLU on the way out and, on the way in, the concatenation of two maps on the channel
// axis. The twin on the CPU is kernels::group_norm().
#pragma once

#include <cstddef>

#include "gpu/cuda/format.h"
#include "gpu/cuda/stream.h"

namespace navtalk::cuda {

// Every pointer is the device's.
struct GroupNorm {
  const void* x = nullptr;     // [images, pixels, channels]
  const void* skip = nullptr;  // [images, pixels, skip_channels], or null
  void* y = nullptr;           // [images, pixels, channels + skip_channels]; may be x without skip
  Format format = Format::fp16;
  int images = 1, pixels = 0, channels = 0, skip_channels = 0;
  const float* gamma = nullptr;  // [channels + skip_channels]
  const float* beta = nullptr;
  const float* bias = nullptr;  // [channels], added to x first; or null
  int groups = 32;
  float eps = 1e-5F;
  bool silu = true;
};
// Channels of x and skip together, at most: a block keeps the statistics of all of them in shared memory.
inline constexpr int k_most_norm_channels = 3072;

// Memory that group_norm() needs for this norm while it runs, aligned to 8 bytes, whatever is in it; 0: none.
std::size_t group_norm_workspace_bytes(const GroupNorm& norm);

// Statistics are fp32 sums of differences from one of the values, joined in a fixed order: the result is the same every time, for an
// image alone and in a batch. Maps whose channels are multiples of 16 bytes, at addresses that are, take the fast way.
void group_norm(const GroupNorm& norm, void* workspace, Stream stream);

}  // namespace navtalk::cuda
