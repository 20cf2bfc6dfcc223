// The inner loops of the kernels, one table per instruction set. All maps are NHWC: a row is one
// pixel (or token) of `channels` elements, rows lie `stride` elements apart.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

struct RowKernels {
  // sum[c] = sum of x[r][c] - pivot[c] over all rows, squares[c] the sum of its square. fp32 maps
  // are summed in double: where a map is constant, as below a mask, fp32 sums would round the same
  // way in every run of rows, and the errors would not average out.
  void (*moments)(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t channels,
                  const float* pivot, double* sum, double* squares);
  // y[r][c] = act(x[r][c] * scale[c] + shift[c]); act is SiLU or nothing. y may be x.
  void (*scale_shift)(const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
                      std::int64_t rows, std::int64_t channels, const float* scale,
                      const float* shift, bool silu);
  // y[r] = (x[r] - mean) / sqrt(var + eps) * gamma + beta over the row's channels.
  void (*layer_norm)(const void* x, void* y, std::int64_t rows, std::int64_t channels,
                     const float* gamma, const float* beta, float eps);
  // x [rows, 2 * channels] to y [rows, channels]: x[c] * gelu(x[channels + c]), erf form.
  void (*geglu)(const void* x, void* y, std::int64_t rows, std::int64_t channels);
  // y[i] = gelu(x[i]), erf form. y may be x.
  void (*gelu)(const void* x, void* y, std::int64_t count);
};

const RowKernels& row_kernels(Isa isa, Format format);

// Behind the table.
const RowKernels& portable_rows(Format format);
const RowKernels& avx2_rows(Format format);  // bf16: the portable ones
const RowKernels& avx512_rows(Format format);

}  // namespace navtalk::kernels
