// One float for each ray of a packet: as many lanes as the machine's vectors have. Everything in
// the renderer computes on these; a packet is a block of k_block_width x k_block_height
// neighbouring pixels.
//
// GCC's vector extensions do the arithmetic. The few operations that they lack are written per
// instruction set below.
#pragma once

#include <immintrin.h>

namespace render {

#if defined(__AVX512F__) && defined(__AVX512DQ__)
inline constexpr int k_lanes = 16, k_block_width = 4, k_block_height = 4;
#elif defined(__AVX2__)
inline constexpr int k_lanes = 8, k_block_width = 4, k_block_height = 2;
#else
inline constexpr int k_lanes = 4, k_block_width = 2, k_block_height = 2;
#endif

typedef float Lanes __attribute__((vector_size(4 * k_lanes)));
typedef int Mask __attribute__((vector_size(4 * k_lanes)));  // each lane 0 or -1

inline Lanes all(float value) { return Lanes{} + value; }

#if defined(__AVX512F__) && defined(__AVX512DQ__)
inline Lanes min(Lanes a, Lanes b) { return (Lanes)_mm512_min_ps((__m512)a, (__m512)b); }
inline Lanes max(Lanes a, Lanes b) { return (Lanes)_mm512_max_ps((__m512)a, (__m512)b); }
inline Lanes root(Lanes a) { return (Lanes)_mm512_sqrt_ps((__m512)a); }
inline Lanes inverse_root(Lanes a) { return (Lanes)_mm512_rsqrt14_ps((__m512)a); }
inline bool any(Mask m) { return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0; }
#elif defined(__AVX2__)
inline Lanes min(Lanes a, Lanes b) { return (Lanes)_mm256_min_ps((__m256)a, (__m256)b); }
inline Lanes max(Lanes a, Lanes b) { return (Lanes)_mm256_max_ps((__m256)a, (__m256)b); }
inline Lanes root(Lanes a) { return (Lanes)_mm256_sqrt_ps((__m256)a); }
inline Lanes inverse_root(Lanes a) { return (Lanes)_mm256_rsqrt_ps((__m256)a); }
inline bool any(Mask m) { return _mm256_movemask_ps((__m256)m) != 0; }
#else
inline Lanes min(Lanes a, Lanes b) { return (Lanes)_mm_min_ps((__m128)a, (__m128)b); }
inline Lanes max(Lanes a, Lanes b) { return (Lanes)_mm_max_ps((__m128)a, (__m128)b); }
inline Lanes root(Lanes a) { return (Lanes)_mm_sqrt_ps((__m128)a); }
inline Lanes inverse_root(Lanes a) { return (Lanes)_mm_rsqrt_ps((__m128)a); }
inline bool any(Mask m) { return _mm_movemask_ps((__m128)m) != 0; }
#endif

inline Lanes min(Lanes a, float b) { return min(a, all(b)); }
inline Lanes max(Lanes a, float b) { return max(a, all(b)); }
inline Lanes abs(Lanes a) { return (Lanes)((Mask)a & 0x7fffffff); }
inline Lanes clamp(Lanes a, float low, float high) { return min(max(a, low), high); }
inline Lanes unit(Lanes a) { return clamp(a, 0.0f, 1.0f); }
inline Lanes square(Lanes a) { return a * a; }
inline float square(float a) { return a * a; }
inline Lanes mix(Lanes a, Lanes b, Lanes t) { return a + (b - a) * t; }
inline Lanes length(Lanes x, Lanes y) { return root(max(x * x + y * y, 1e-12f)); }
inline Lanes length(Lanes x, Lanes y, Lanes z) { return root(max(x * x + y * y + z * z, 1e-12f)); }
inline Lanes select(Mask m, Lanes yes, Lanes no) { return m ? yes : no; }

// Cubic step from 0 at `from` to 1 at `to`; falls where to < from.
inline Lanes step(float from, float to, Lanes x) {
  const Lanes t = unit((x - from) * (1.0f / (to - from)));
  return t * t * (3.0f - 2.0f * t);
}

inline Lanes floor(Lanes a) {
  const Lanes whole = __builtin_convertvector(__builtin_convertvector(a, Mask), Lanes);
  return whole - select(whole > a, all(1.0f), all(0.0f));
}

// 2^x to 6 digits, for |x| < 100.
inline Lanes exp2(Lanes x) {
  x = clamp(x, -100.0f, 100.0f);
  const Lanes whole = floor(x), r = x - whole;
  const Lanes fraction =
      1.0f +
      r * (0.6931472f + r * (0.2402265f + r * (0.0555041f + r * (0.0096181f + r * 0.0013333f))));
  return fraction * (Lanes)((__builtin_convertvector(whole, Mask) + 127) << 23);
}

// log2 of positive x, error below 1e-4.
inline Lanes log2(Lanes x) {
  const Mask bits = (Mask)max(x, 1e-9f);
  const Lanes exponent = __builtin_convertvector((bits >> 23) - 127, Lanes);
  const Lanes t = (Lanes)((bits & 0x007fffff) | 0x3f800000) - 1.0f;
  return exponent +
         t * (1.4423f +
              t * (-0.7170f + t * (0.4540f + t * (-0.2734f + t * (0.1226f - t * 0.0286f)))));
}

inline Lanes power(Lanes x, float exponent) { return exp2(log2(x) * exponent); }
// A bell of height 1: exp(-x) for a squared distance x.
inline Lanes bell(Lanes squared) { return exp2(squared * -1.442695f); }

// sin x by two parabolas, error below 1e-3.
inline Lanes sine(Lanes x) {
  x = x - floor(x * 0.15915494f + 0.5f) * 6.2831853f;
  const Lanes y = 1.27323954f * x - 0.405284735f * x * abs(x);
  return 0.225f * (y * abs(y) - y) + y;
}

// The angle of the direction (x, y) from the x axis, -pi .. pi, error below 0.005.
inline Lanes angle(Lanes y, Lanes x) {
  const Lanes ax = abs(x), ay = abs(y);
  const Lanes t = min(ax, ay) / max(max(ax, ay), 1e-9f);
  const Lanes small = t * (0.97239f - 0.19195f * t * t);
  const Lanes quarter = select(ay > ax, 1.5707963f - small, small);
  const Lanes half = select(x < 0.0f, 3.1415927f - quarter, quarter);
  return select(y < 0.0f, -half, half);
}

}  // namespace render
