// The row kernels of fp32 in AVX2. Compiled with -mavx2 and -mfma, so nothing here may instantiate a
// template that other sources share: the linker could keep this copy for every CPU.
#include <cstdint>

#include "gpu/kernels/rows.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"

namespace navtalk::kernels {
namespace {

// erf by Abramowitz and Stegun 7.1.26, 1.5e-7 absolute.
inline __m256 gelu_of(__m256 x) {
  const __m256 z = _mm256_mul_ps(absolute(x), _mm256_set1_ps(0.70710678F));
  const __m256 one = _mm256_set1_ps(1.0F);
  const __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(z, _mm256_set1_ps(0.3275911F), one));
  __m256 p = _mm256_set1_ps(1.061405429F);
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-1.453152027F));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(1.421413741F));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.284496736F));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.254829592F));
  const __m256 fade = exp_of(_mm256_fnmadd_ps(z, z, _mm256_setzero_ps()));
  const __m256 rest = _mm256_mul_ps(_mm256_mul_ps(p, t), fade);  // 1 - erf(|x| / sqrt 2)
  // gelu(x) = max(x, 0) - |x| / 2 * rest: no cancellation on the negative side.
  return _mm256_fnmadd_ps(_mm256_mul_ps(absolute(x), _mm256_set1_ps(0.5F)), rest,
                          _mm256_max_ps(_mm256_setzero_ps(), x));
}

// Sums of 8 channels and of their squares, in double as RowKernels::moments says.
struct Sums {
  __m256d sum[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d squares[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  void add(__m256 x) {
    for (int half = 0; half < 2; ++half) {
      const __m256d wide = doubles(x, half);
      sum[half] = _mm256_add_pd(sum[half], wide);
      squares[half] = _mm256_fmadd_pd(wide, wide, squares[half]);
    }
  }
  void store(double* to_sum, double* to_squares, std::int64_t channels) const {
    double all[2][k_lanes];
    for (int half = 0; half < 2; ++half) {
      _mm256_storeu_pd(all[0] + 4 * half, sum[half]);
      _mm256_storeu_pd(all[1] + 4 * half, squares[half]);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      to_sum[c] = all[0][c];
      to_squares[c] = all[1][c];
    }
  }
};

// n vectors of channels at once, so that one sum's latency hides behind the others'. Only the last
// vector of a row may have fewer channels.
template <int n>
void moments_block(const float* x, std::int64_t rows, std::int64_t stride, const float* pivot,
                   double* sum, double* squares, std::int64_t channels) {
  const __m256i mask = mask_of(channels);
  __m256 p[n];
  Sums sums[n];
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) p[i] = _mm256_maskload_ps(pivot + i * k_lanes, mask);
  for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int i = 0; i < n; ++i) {
      const float* from = x + r * stride + i * k_lanes;
      const __m256 v = n > 1 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, mask);
      sums[i].add(_mm256_sub_ps(v, p[i]));
    }
  for (int i = 0; i < n; ++i) sums[i].store(sum + i * k_lanes, squares + i * k_lanes, channels);
}

void moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t channels,
             const float* pivot, double* sum, double* squares) {
  const auto* in = static_cast<const float*>(x);
  std::int64_t c = 0;
  for (; c + 2 * k_lanes <= channels; c += 2 * k_lanes)
    moments_block<2>(in + c, rows, stride, pivot + c, sum + c, squares + c, k_lanes);
  for (; c < channels; c += k_lanes) {
    const std::int64_t left = channels - c;
    moments_block<1>(in + c, rows, stride, pivot + c, sum + c, squares + c,
                     left < k_lanes ? left : k_lanes);
  }
}

template <bool silu>
void scale_shift_rows(const float* x, std::int64_t x_stride, float* y, std::int64_t y_stride,
                      std::int64_t rows, std::int64_t channels, const float* scale,
                      const float* shift) {
  const std::int64_t whole = channels / k_lanes * k_lanes;
  const __m256i mask = tail_mask(channels - whole);
  for (std::int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    for (std::int64_t c = 0; c < whole; c += k_lanes) {
      const __m256 v = _mm256_fmadd_ps(_mm256_loadu_ps(x + c), _mm256_loadu_ps(scale + c),
                                       _mm256_loadu_ps(shift + c));
      _mm256_storeu_ps(y + c, silu ? silu_of(v) : v);
    }
    if (whole == channels) continue;
    const __m256 v = _mm256_fmadd_ps(_mm256_maskload_ps(x + whole, mask),
                                     _mm256_maskload_ps(scale + whole, mask),
                                     _mm256_maskload_ps(shift + whole, mask));
    _mm256_maskstore_ps(y + whole, mask, silu ? silu_of(v) : v);
  }
}

void scale_shift(const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t channels, const float* scale, const float* shift,
                 bool silu) {
  const auto* in = static_cast<const float*>(x);
  auto* out = static_cast<float*>(y);
  if (silu)
    scale_shift_rows<true>(in, x_stride, out, y_stride, rows, channels, scale, shift);
  else
    scale_shift_rows<false>(in, x_stride, out, y_stride, rows, channels, scale, shift);
}

void layer_norm(const void* x, void* y, std::int64_t rows, std::int64_t channels,
                const float* gamma, const float* beta, float eps) {
  const auto* in = static_cast<const float*>(x);
  auto* out = static_cast<float*>(y);
  const auto n = static_cast<float>(channels);
  for (std::int64_t r = 0; r < rows; ++r, in += channels, out += channels) {
    __m256 sum = _mm256_setzero_ps(), squares = _mm256_setzero_ps();
    for (std::int64_t c = 0; c < channels; c += k_lanes)
      sum = _mm256_add_ps(sum, _mm256_maskload_ps(in + c, mask_of(channels - c)));
    const __m256 mean = _mm256_set1_ps(sum_of(sum) / n);
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __m256i mask = mask_of(channels - c);
      const __m256 d = _mm256_and_ps(_mm256_sub_ps(_mm256_maskload_ps(in + c, mask), mean),
                                     _mm256_castsi256_ps(mask));
      squares = _mm256_fmadd_ps(d, d, squares);
    }
    const __m256 inverse = _mm256_set1_ps(1.0F / __builtin_sqrtf(sum_of(squares) / n + eps));
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __m256i mask = mask_of(channels - c);
      const __m256 unit =
          _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(in + c, mask), mean), inverse);
      store_part(out + c, channels - c,
                 _mm256_fmadd_ps(unit, _mm256_maskload_ps(gamma + c, mask),
                                 _mm256_maskload_ps(beta + c, mask)));
    }
  }
}

void geglu(const void* x, void* y, std::int64_t rows, std::int64_t channels) {
  const auto* in = static_cast<const float*>(x);
  auto* out = static_cast<float*>(y);
  for (std::int64_t r = 0; r < rows; ++r, in += 2 * channels, out += channels)
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __m256i mask = mask_of(channels - c);
      const __m256 gate = gelu_of(_mm256_maskload_ps(in + channels + c, mask));
      store_part(out + c, channels - c, _mm256_mul_ps(_mm256_maskload_ps(in + c, mask), gate));
    }
}

void gelu(const void* x, void* y, std::int64_t count) {
  const auto* in = static_cast<const float*>(x);
  auto* out = static_cast<float*>(y);
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const __m256i mask = mask_of(count - i);
    store_part(out + i, count - i, gelu_of(_mm256_maskload_ps(in + i, mask)));
  }
}

constexpr RowKernels k_rows{moments, scale_shift, layer_norm, geglu, gelu};

}  // namespace

const RowKernels& avx2_rows(Format format) {
  return format == Format::fp32 ? k_rows : portable_rows(format);
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const RowKernels& avx2_rows(Format format) { return portable_rows(format); }

}  // namespace navtalk::kernels

#endif
