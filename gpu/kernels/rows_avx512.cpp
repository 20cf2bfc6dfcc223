// The row kernels in AVX-512. Compiled with -mavx512* flags, so nothing here may instantiate a
// template that other sources share: the linker could keep this copy for every CPU.
#include <cstdint>

#include "gpu/kernels/rows.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

// Below -87, where the exponential would leave the range, SiLU is 0 to fp32; NaN stays NaN.
inline __m512 silu_of(__m512 x) {
  const __m512 limit = _mm512_set1_ps(87.0F);
  const __m512 minus = _mm512_sub_ps(_mm512_setzero_ps(), x);
  const __mmask16 alive = _mm512_cmp_ps_mask(minus, limit, _CMP_NGE_UQ);
  const __m512 fade = exp_of(_mm512_min_ps(minus, limit));
  return _mm512_maskz_mul_ps(alive, x, reciprocal(_mm512_add_ps(_mm512_set1_ps(1.0F), fade)));
}

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

template <class F>
void moments_block(const typename F::Item* x, std::int64_t rows, std::int64_t stride,
                   const float* pivot, float* sum, float* squares, __mmask16 mask) {
  const __m512 p = _mm512_maskz_loadu_ps(mask, pivot);
  __m512 s[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 q[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (std::int64_t r = 0; r < rows; ++r) {
    const __m512 d = _mm512_sub_ps(F::load(x + r * stride, mask), p);
    s[r & 1] = _mm512_add_ps(s[r & 1], d);
    q[r & 1] = _mm512_fmadd_ps(d, d, q[r & 1]);
  }
  _mm512_mask_storeu_ps(sum, mask, _mm512_add_ps(s[0], s[1]));
  _mm512_mask_storeu_ps(squares, mask, _mm512_add_ps(q[0], q[1]));
}

// Four vectors of channels at once: enough independent sums to hide the add's latency.
template <class F>
void moments_block4(const typename F::Item* x, std::int64_t rows, std::int64_t stride,
                    const float* pivot, float* sum, float* squares) {
  __m512 p[4], s[4], q[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = _mm512_loadu_ps(pivot + i * k_lanes);
    s[i] = q[i] = _mm512_setzero_ps();
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < 4; ++i) {
      const __m512 d = _mm512_sub_ps(F::load(x + r * stride + i * k_lanes), p[i]);
      s[i] = _mm512_add_ps(s[i], d);
      q[i] = _mm512_fmadd_ps(d, d, q[i]);
    }
  for (int i = 0; i < 4; ++i) {
    _mm512_storeu_ps(sum + i * k_lanes, s[i]);
    _mm512_storeu_ps(squares + i * k_lanes, q[i]);
  }
}

template <class F>
void moments(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t channels,
             const float* pivot, float* sum, float* squares) {
  const auto* in = static_cast<const typename F::Item*>(x);
  std::int64_t c = 0;
  for (; c + 4 * k_lanes <= channels; c += 4 * k_lanes)
    moments_block4<F>(in + c, rows, stride, pivot + c, sum + c, squares + c);
  for (; c < channels; c += k_lanes) {
    const std::int64_t left = channels - c;
    moments_block<F>(in + c, rows, stride, pivot + c, sum + c, squares + c,
                     left >= k_lanes ? __mmask16{0xffff} : tail_mask(left));
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
      F::store(y + c, silu ? silu_of(v) : v);
    }
    if (mask == 0) continue;
    const __m512 v =
        _mm512_fmadd_ps(F::load(x + whole, mask), _mm512_maskz_loadu_ps(mask, scale + whole),
                        _mm512_maskz_loadu_ps(mask, shift + whole));
    F::store(y + whole, silu ? silu_of(v) : v, mask);
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
