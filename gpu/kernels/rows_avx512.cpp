// The row kernels in AVX-512. Compiled with -mavx512* flags, so nothing here may instantiate a
// template that other sources share: the linker could keep this copy for every CPU.
#include <cstdint>

#include "gpu/kernels/rows.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

// erf by Abramowitz and Stegun 7.1.26, 1.5e-7 absolute.
inline __m512 gelu_of(__m512 x) {
  const __m512 z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(0.70710678F));
  const __m512 one = _mm512_set1_ps(1.0F);
  const __m512 t = reciprocal(_mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911F), one));
  __m512 p = _mm512_set1_ps(1.061405429F);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-1.453152027F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.421413741F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-0.284496736F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.254829592F));
  const __m512 fade = exp_of(_mm512_fnmadd_ps(z, z, _mm512_setzero_ps()));
  const __m512 rest = _mm512_mul_ps(_mm512_mul_ps(p, t), fade);  // 1 - erf(|x| / sqrt 2)
  // gelu(x) = max(x, 0) - |x| / 2 * rest: no cancellation on the negative side.
  return _mm512_fnmadd_ps(_mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(0.5F)), rest,
                          _mm512_max_ps(x, _mm512_setzero_ps()));
}

// Sums of 16 channels and of their squares; see RowKernels::moments about the formats.
template <class F>
struct Sums {
  __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
  void add(__m512 x) {
    sum = _mm512_add_ps(sum, x);
    squares = _mm512_fmadd_ps(x, x, squares);
  }
  void store(double* to_sum, double* to_squares, __mmask16 mask) const {
    for (int half = 0; half < 2; ++half) {
      const auto part = static_cast<__mmask8>(mask >> (8 * half));
      _mm512_mask_storeu_pd(to_sum + 8 * half, part, doubles(sum, half));
      _mm512_mask_storeu_pd(to_squares + 8 * half, part, doubles(squares, half));
    }
  }
};
template <>
struct Sums<Fp32> {
  __m512d sum[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  __m512d squares[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  void add(__m512 x) {
    for (int half = 0; half < 2; ++half) {
      const __m512d wide = doubles(x, half);
      sum[half] = _mm512_add_pd(sum[half], wide);
      squares[half] = _mm512_fmadd_pd(wide, wide, squares[half]);
    }
  }
  void store(double* to_sum, double* to_squares, __mmask16 mask) const {
    for (int half = 0; half < 2; ++half) {
      const auto part = static_cast<__mmask8>(mask >> (8 * half));
      _mm512_mask_storeu_pd(to_sum + 8 * half, part, sum[half]);
      _mm512_mask_storeu_pd(to_squares + 8 * half, part, squares[half]);
    }
  }
};

// n vectors of channels at once: four are enough independent sums to hide the add's latency. Only
// the last vector of a row may be masked.
template <class F, int n>
void moments_block(const typename F::Item* x, std::int64_t rows, std::int64_t stride,
                   const float* pivot, double* sum, double* squares, __mmask16 mask) {
  __m512 p[n];
  Sums<F> sums[n];
  for (int i = 0; i < n; ++i) p[i] = _mm512_maskz_loadu_ps(mask, pivot + i * k_lanes);
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < n; ++i)
      sums[i].add(_mm512_sub_ps(F::load(x + r * stride + i * k_lanes, mask), p[i]));
  for (int i = 0; i < n; ++i) sums[i].store(sum + i * k_lanes, squares + i * k_lanes, mask);
}

template <class F>
void moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t channels,
             const float* pivot, double* sum, double* squares) {
  constexpr __mmask16 k_whole = 0xffff;
  const auto* in = static_cast<const typename F::Item*>(x);
  std::int64_t c = 0;
  for (; c + 4 * k_lanes <= channels; c += 4 * k_lanes)
    moments_block<F, 4>(in + c, rows, stride, pivot + c, sum + c, squares + c, k_whole);
  for (; c < channels; c += k_lanes) {
    const std::int64_t left = channels - c;
    moments_block<F, 1>(in + c, rows, stride, pivot + c, sum + c, squares + c,
                        left >= k_lanes ? k_whole : tail_mask(left));
  }
}

template <class F, bool silu>
void scale_shift_rows(const typename F::Item* x, std::int64_t x_stride, typename F::Item* y,
                      std::int64_t y_stride, std::int64_t rows, std::int64_t channels,
                      const float* scale, const float* shift) {
  const std::int64_t whole = channels / k_lanes * k_lanes;
  const __mmask16 mask = tail_mask(channels - whole);
  for (std::int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    for (std::int64_t c = 0; c < whole; c += k_lanes) {
      const __m512 v =
          _mm512_fmadd_ps(F::load(x + c), _mm512_loadu_ps(scale + c), _mm512_loadu_ps(shift + c));
      F::store(y + c, silu ? silu_of<F>(v) : v);
    }
    if (mask == 0) continue;
    const __m512 v =
        _mm512_fmadd_ps(F::load(x + whole, mask), _mm512_maskz_loadu_ps(mask, scale + whole),
                        _mm512_maskz_loadu_ps(mask, shift + whole));
    F::store(y + whole, silu ? silu_of<F>(v) : v, mask);
  }
}

template <class F>
void scale_shift(const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t channels, const float* scale, const float* shift,
                 bool silu) {
  const auto* in = static_cast<const typename F::Item*>(x);
  auto* out = static_cast<typename F::Item*>(y);
  if (silu)
    scale_shift_rows<F, true>(in, x_stride, out, y_stride, rows, channels, scale, shift);
  else
    scale_shift_rows<F, false>(in, x_stride, out, y_stride, rows, channels, scale, shift);
}

template <class F>
void layer_norm(const void* x, void* y, std::int64_t rows, std::int64_t channels,
                const float* gamma, const float* beta, float eps) {
  const auto* in = static_cast<const typename F::Item*>(x);
  auto* out = static_cast<typename F::Item*>(y);
  const float n = static_cast<float>(channels);
  for (std::int64_t r = 0; r < rows; ++r, in += channels, out += channels) {
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __mmask16 m = channels - c >= k_lanes ? __mmask16{0xffff} : tail_mask(channels - c);
      sum = _mm512_add_ps(sum, F::load(in + c, m));
    }
    const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / n);
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __mmask16 m = channels - c >= k_lanes ? __mmask16{0xffff} : tail_mask(channels - c);
      const __m512 d = _mm512_maskz_sub_ps(m, F::load(in + c, m), mean);
      squares = _mm512_fmadd_ps(d, d, squares);
    }
    const __m512 inverse =
        _mm512_set1_ps(1.0F / __builtin_sqrtf(_mm512_reduce_add_ps(squares) / n + eps));
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __mmask16 m = channels - c >= k_lanes ? __mmask16{0xffff} : tail_mask(channels - c);
      const __m512 unit = _mm512_mul_ps(_mm512_sub_ps(F::load(in + c, m), mean), inverse);
      F::store(out + c,
               _mm512_fmadd_ps(unit, _mm512_maskz_loadu_ps(m, gamma + c),
                               _mm512_maskz_loadu_ps(m, beta + c)),
               m);
    }
  }
}

template <class F>
void geglu(const void* x, void* y, std::int64_t rows, std::int64_t channels) {
  const auto* in = static_cast<const typename F::Item*>(x);
  auto* out = static_cast<typename F::Item*>(y);
  for (std::int64_t r = 0; r < rows; ++r, in += 2 * channels, out += channels)
    for (std::int64_t c = 0; c < channels; c += k_lanes) {
      const __mmask16 m = channels - c >= k_lanes ? __mmask16{0xffff} : tail_mask(channels - c);
      F::store(out + c, _mm512_mul_ps(F::load(in + c, m), gelu_of(F::load(in + channels + c, m))),
               m);
    }
}

template <class F>
void gelu(const void* x, void* y, std::int64_t count) {
  const auto* in = static_cast<const typename F::Item*>(x);
  auto* out = static_cast<typename F::Item*>(y);
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const __mmask16 m = count - i >= k_lanes ? __mmask16{0xffff} : tail_mask(count - i);
    F::store(out + i, gelu_of(F::load(in + i, m)), m);
  }
}

template <class F>
constexpr RowKernels k_rows{moments<F>, scale_shift<F>, layer_norm<F>, geglu<F>, gelu<F>};

}  // namespace

const RowKernels& avx512_rows(Format format) {
  return format == Format::fp32 ? k_rows<Fp32> : k_rows<Bf16>;
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const RowKernels& avx512_rows(Format format) { return portable_rows(format); }

}  // namespace navtalk::kernels

#endif
