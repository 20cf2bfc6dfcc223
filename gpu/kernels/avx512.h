// What the AVX-512 kernels share. Only for *_avx512.cpp, which are compiled with those flags; all
// of it has internal linkage, so that no copy made for AVX-512 is linked into other sources.
//
// Loops over arrays of vectors are unrolled by pragma. g++ unrolls them by itself too, but so late
// that the arrays pass through memory before and after the loop that works on them.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "gpu/kernels/activation.h"

namespace navtalk::kernels {
namespace {

constexpr std::int64_t k_lanes = 16;

inline __mmask16 tail_mask(std::int64_t left) {
  return static_cast<__mmask16>((1U << static_cast<unsigned>(left)) - 1U);
}

// Those of sixteen lanes that `left` elements fill.
inline __mmask16 mask_of(std::int64_t left) { return tail_mask(left < k_lanes ? left : k_lanes); }

// What loops need that are written once for both widths (*_vector.h): sixteen floats.
struct Floats {
  using Vector = __m512;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector all(float x) { return _mm512_set1_ps(x); }
  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Vector x) { _mm512_storeu_ps(p, x); }
  // The first `left` of them, or all: one to as many as there are.
  static Vector load_part(const float* p, std::int64_t left) {
    return _mm512_maskz_loadu_ps(mask_of(left), p);
  }
  static void store_part(float* p, std::int64_t left, Vector x) {
    _mm512_mask_storeu_ps(p, mask_of(left), x);
  }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};

// Into the second cache.
inline void fetch(const float* from, std::int64_t count) {
  constexpr std::int64_t k_line = 16;
  for (std::int64_t i = 0; i < count; i += k_line)
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
}

// Loads and stores of 16 elements as fp32, whatever the map holds; `mask` leaves lanes out.
struct Fp32 {
  using Item = float;
  static __m512 load(const float* p) { return _mm512_loadu_ps(p); }
  static __m512 load(const float* p, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, p); }
  static void store(float* p, __m512 x) { _mm512_storeu_ps(p, x); }
  static void store(float* p, __m512 x, __mmask16 mask) { _mm512_mask_storeu_ps(p, mask, x); }
};
struct Bf16 {
  using Item = std::uint16_t;
  static __m512 widen(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }
  static __m256i narrow(__m512 x) {
    const __m256bh half = _mm512_cvtneps_pbh(x);
    __m256i bits;
    __builtin_memcpy(&bits, &half, sizeof bits);
    return bits;
  }
  static __m512 load(const Item* p) { return widen(_mm256_loadu_epi16(p)); }
  static __m512 load(const Item* p, __mmask16 mask) {
    return widen(_mm256_maskz_loadu_epi16(mask, p));
  }
  static void store(Item* p, __m512 x) { _mm256_storeu_epi16(p, narrow(x)); }
  static void store(Item* p, __m512 x, __mmask16 mask) {
    _mm256_mask_storeu_epi16(p, mask, narrow(x));
  }
};

// The lower (0) or upper (1) eight of 16 floats, as doubles.
inline __m512d doubles(__m512 x, int half) {
  const __m512d bits = _mm512_castps_pd(x);
  return _mm512_cvtps_pd(
      _mm256_castpd_ps(half == 0 ? _mm512_castpd512_pd256(bits) : _mm512_extractf64x4_pd(bits, 1)));
}

// e^x for x <= 88: 2^k * p(r), |r| <= ln(2)/2, p the Taylor polynomial of degree 7 (4e-9
// relative). Below -87 it fades to 0.
inline __m512 exp_of(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-104.0F));
  const __m512 k = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504F)), 0);
  __m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(0.693359375F), x);
  r = _mm512_fnmadd_ps(k, _mm512_set1_ps(-2.12194440e-4F), r);
  __m512 p = _mm512_set1_ps(1.0F / 5040);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F / 720));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F / 120));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F / 24));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F / 6));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F));
  return _mm512_scalef_ps(p, k);
}

// 2^x to 4e-5 of it, a fiftieth of what bf16 rounds away: 2^k * p(r), |r| <= 1/2, p the Taylor
// polynomial of degree 4.
inline __m512 exp2_of(__m512 x) {
  const __m512 k = _mm512_roundscale_ps(x, 0);
  const __m512 r = _mm512_sub_ps(x, k);
  __m512 p = _mm512_set1_ps(0.00961812911F);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.0555041087F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.240226507F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.693147181F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F));
  return _mm512_scalef_ps(p, k);
}

// 1/x: the 14-bit estimate and one Newton step, about one unit in the last place.
inline __m512 reciprocal(__m512 x) {
  const __m512 estimate = _mm512_rcp14_ps(x);
  return _mm512_mul_ps(estimate, _mm512_fnmadd_ps(x, estimate, _mm512_set1_ps(2.0F)));
}

// 1 / (1 + e^-x) for x > -87, as exactly as the format shows.
template <class F>
inline __m512 sigmoid_of(__m512 minus_x) {
  const __m512 one = _mm512_set1_ps(1.0F);
  return _mm512_div_ps(one, _mm512_add_ps(one, exp_of(minus_x)));
}
template <>
inline __m512 sigmoid_of<Bf16>(__m512 minus_x) {
  const __m512 fade = exp2_of(_mm512_mul_ps(minus_x, _mm512_set1_ps(1.44269504F)));
  return _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0F), fade));
}

// Below -87, where the exponential would leave the range, SiLU is 0 to fp32; NaN stays NaN.
template <class F>
inline __m512 silu_of(__m512 x) {
  const __m512 limit = _mm512_set1_ps(87.0F);
  const __m512 minus = _mm512_sub_ps(_mm512_setzero_ps(), x);
  const __mmask16 alive = _mm512_cmp_ps_mask(minus, limit, _CMP_NGE_UQ);
  return _mm512_maskz_mul_ps(alive, x, sigmoid_of<F>(_mm512_min_ps(minus, limit)));
}

template <Activation activation>
inline __m512 activated(__m512 x) {
  if (activation == Activation::relu) return _mm512_max_ps(x, _mm512_setzero_ps());
  if (activation == Activation::silu) return silu_of<Fp32>(x);
  return x;
}

}  // namespace
}  // namespace navtalk::kernels
