// The portable row kernels: the clearest loops, and the twin that the vector ones are tested
// against.
#include "gpu/kernels/rows.h"

#include <algorithm>
#include <cmath>

#include "gpu/kernels/bf16.h"

namespace navtalk::kernels {
namespace {

float silu_of(float x) { return x / (1.0F + std::exp(-x)); }
float gelu_of(float x) { return 0.5F * x * (1.0F + std::erf(x * 0.70710678F)); }

template <class T>
void moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t channels,
             const float* pivot, double* sum, double* squares) {
  std::fill_n(sum, channels, 0.0);
  std::fill_n(squares, channels, 0.0);
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * stride;
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto d = static_cast<double>(to_float(in[c]) - pivot[c]);
      sum[c] += d;
      squares[c] += d * d;
    }
  }
}

template <class T>
void scale_shift(const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t channels, const float* scale, const float* shift,
                 bool silu) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * x_stride;
    T* out = static_cast<T*>(y) + r * y_stride;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float v = to_float(in[c]) * scale[c] + shift[c];
      store(silu ? silu_of(v) : v, out[c]);
    }
  }
}

template <class T>
void layer_norm(const void* x, void* y, std::int64_t rows, std::int64_t channels,
                const float* gamma, const float* beta, float eps) {
  const auto n = static_cast<float>(channels);
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * channels;
    T* out = static_cast<T*>(y) + r * channels;
    float sum = 0, squares = 0;
    for (std::int64_t c = 0; c < channels; ++c) sum += to_float(in[c]);
    const float mean = sum / n;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float d = to_float(in[c]) - mean;
      squares += d * d;
    }
    const float inverse = 1.0F / std::sqrt(squares / n + eps);
    for (std::int64_t c = 0; c < channels; ++c)
      store((to_float(in[c]) - mean) * inverse * gamma[c] + beta[c], out[c]);
  }
}

template <class T>
void geglu(const void* x, void* y, std::int64_t rows, std::int64_t channels) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = static_cast<const T*>(x) + r * 2 * channels;
    T* out = static_cast<T*>(y) + r * channels;
    for (std::int64_t c = 0; c < channels; ++c)
      store(to_float(in[c]) * gelu_of(to_float(in[channels + c])), out[c]);
  }
}

template <class T>
void gelu(const void* x, void* y, std::int64_t count) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  for (std::int64_t i = 0; i < count; ++i) store(gelu_of(to_float(in[i])), out[i]);
}

template <class T>
constexpr RowKernels k_rows{moments<T>, scale_shift<T>, layer_norm<T>, geglu<T>, gelu<T>};

}  // namespace

const RowKernels& portable_rows(Format format) {
  return format == Format::fp32 ? k_rows<float> : k_rows<std::uint16_t>;
}

const RowKernels& row_kernels(Isa isa, Format format) {
  switch (isa) {
    case Isa::avx512:
      return avx512_rows(format);
    case Isa::avx2:
      return avx2_rows(format);
    case Isa::portable:
      break;
  }
  return portable_rows(format);
}

}  // namespace navtalk::kernels
