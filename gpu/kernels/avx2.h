// What the AVX2 kernels share, all of it for fp32. Only for *_avx2.cpp, which are compiled with -mavx2 and
// -mfma; all of it has internal linkage, so that no copy made for AVX2 is linked into other sources.
//
// Loops over arrays of vectors are unrolled by pragma, as in avx512.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "gpu/kernels/activation.h"

namespace navtalk::kernels {
namespace {

constexpr std::int64_t k_lanes = 8;

// The first `left` lanes, 0 to 8 of them.
inline __m256i tail_mask(std::int64_t left) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(left)), lane);
}

// Those of eight lanes that `left` elements fill.
inline __m256i mask_of(std::int64_t left) { return tail_mask(left < k_lanes ? left : k_lanes); }

// What loops need that are written once for both widths (*_vector.h): eight floats.
struct Floats {
  using Vector = __m256;
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector all(float x) { return _mm256_set1_ps(x); }
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Vector x) { _mm256_storeu_ps(p, x); }
  // The first `left` of them, or all: one to as many as there are.
  static Vector load_part(const float* p, std::int64_t left) {
    return _mm256_maskload_ps(p, mask_of(left));
  }
  static void store_part(float* p, std::int64_t left, Vector x) {
    _mm256_maskstore_ps(p, mask_of(left), x);
  }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
};

// Into the second cache.
inline void fetch(const float* from, std::int64_t count) {
  constexpr std::int64_t k_line = 16;
  for (std::int64_t i = 0; i < count; i += k_line)
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
}

// The first `left` lanes of x, or all of them. A whole store, where it can be one: by a mask it takes several times as long.
inline void store_part(float* to, std::int64_t left, __m256 x) {
  if (left >= k_lanes)
    _mm256_storeu_ps(to, x);
  else
    _mm256_maskstore_ps(to, tail_mask(left), x);
}

// The lower (0) or upper (1) four of 8 floats, as doubles.
inline __m256d doubles(__m256 x, int half) {
  return _mm256_cvtps_pd(half == 0 ? _mm256_castps256_ps128(x) : _mm256_extractf128_ps(x, 1));
}

inline float sum_of(__m256 x) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

inline __m256 absolute(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x); }

// e^x for x <= 88: 2^k * p(r), |r| <= ln(2)/2, p the Taylor polynomial of degree 7 (4e-9
// relative). Below -87.3 it stays at e^-87.3, 1e-38.
inline __m256 exp_of(__m256 x) {
  x = _mm256_max_ps(x, _mm256_set1_ps(-87.3F));
  const __m256 k = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504F)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375F), x);
  r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4F), r);
  __m256 p = _mm256_set1_ps(1.0F / 5040);
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F / 720));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F / 120));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F / 24));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F / 6));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5F));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F));
  // p * 2^k by k more in the exponent: -126 <= k <= 127, and p lies between 0.7 and 1.5.
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}

// Below -87, where the exponential would leave the range, SiLU is 0 to fp32; NaN stays NaN.
inline __m256 silu_of(__m256 x) {
  const __m256 limit = _mm256_set1_ps(87.0F);
  const __m256 minus = _mm256_sub_ps(_mm256_setzero_ps(), x);
  const __m256 alive = _mm256_cmp_ps(minus, limit, _CMP_NGE_UQ);
  const __m256 fade = exp_of(_mm256_min_ps(minus, limit));
  return _mm256_and_ps(alive, _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0F), fade)));
}

template <Activation activation>
inline __m256 activated(__m256 x) {
  if (activation == Activation::relu) return _mm256_max_ps(x, _mm256_setzero_ps());
  if (activation == Activation::silu) return silu_of(x);
  return x;
}

}  // namespace
}  // namespace navtalk::kernels
