// What lies between a net's products, on rows of [rows, channels] in device memory: tokens, or the pixels of NHWC maps. Sums are fp32 and
// rounded once. Values in fp16 or fp32; biases, gamma and beta are fp32. The twins on the CPU are in gpu/kernels/tokens.h and maps.h.
#pragma once

#include <cstddef>

#include "gpu/cuda/format.h"
#include "gpu/cuda/stream.h"

namespace navtalk::cuda {

struct Rows {
  Format format = Format::fp16;
  std::ptrdiff_t rows = 0;
  int channels = 0;
};

// y = x + add + bias. `add` [rows, channels] and `bias` [channels] may be null; y may be x or add.
void add_to_rows(const Rows& rows, const void* x, const void* add, const float* bias, void* y,
                 Stream stream);

// x [rows, 2 * channels] to y [rows, channels]: first half times gelu(second half), erf form.
void geglu(const Rows& rows, const void* x, void* y, Stream stream);

// y = (z - mean) / sqrt(variance + eps) * gamma + beta of each row z = x + bias; `bias` [channels] may be null, y may be x. Of at most
// 2,048 channels, or eight times as many where they are multiples of 16 bytes.
struct LayerNorm {
  const void* x = nullptr;
  const float* bias = nullptr;
  const float* gamma = nullptr;  // [channels]
  const float* beta = nullptr;
  float eps = 1e-5F;
  void* y = nullptr;
};
void layer_norm(const Rows& rows, const LayerNorm& norm, Stream stream);

// kernels::interleave_phases(), plus `bias` [channels]: x [images, h+1, w+1, 4, channels] to y [images, 2h, 2w, channels].
struct Phases {
  Format format = Format::fp16;
  int images = 1, h = 0, w = 0, channels = 0;
};
void interleave_phases(const Phases& phases, const void* x, const float* bias, void* y,
                       Stream stream);

}  // namespace navtalk::cuda
