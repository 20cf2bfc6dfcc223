// The inner loops of a direct convolution in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/conv/direct_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"

namespace navtalk::kernels {
namespace {

static_assert(k_pixels == 6 && k_outputs == 2 * k_lanes);

inline void fetch(const float* from, std::int64_t count) {
  constexpr std::int64_t k_line = 16;
  for (std::int64_t i = 0; i < count; i += k_line)
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
}

// Twelve sums, two weights and two inputs fill the registers.
void multiply(const DirectProducts& of) {
  __m256 s[k_pixels][2];
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p) s[p][0] = s[p][1] = _mm256_setzero_ps();
  fetch(of.soon, of.soon_weights);
  for (std::int64_t p = 0; p < of.next_count; ++p) fetch(of.next[p] + of.next_first, of.next_depth);
  const float* weights = of.weights;
  for (std::int64_t tap = 0; tap < of.taps; ++tap) {
    const float* const* const pixels = of.pixels + tap * of.pitch;
    const float *const p0 = pixels[0] + of.first, *const p1 = pixels[1] + of.first;
    const float *const p2 = pixels[2] + of.first, *const p3 = pixels[3] + of.first;
    const float *const p4 = pixels[4] + of.first, *const p5 = pixels[5] + of.first;
#pragma GCC unroll 2
    for (std::int64_t i = 0; i < of.depth; ++i, weights += k_outputs) {
      const __m256 w0 = _mm256_loadu_ps(weights), w1 = _mm256_loadu_ps(weights + k_lanes);
      const float* const at[k_pixels] = {p0 + i, p1 + i, p2 + i, p3 + i, p4 + i, p5 + i};
#pragma GCC unroll 6
      for (std::int64_t p = 0; p < k_pixels; ++p) {
        const __m256 v = _mm256_broadcast_ss(at[p]);
        s[p][0] = _mm256_fmadd_ps(v, w0, s[p][0]);
        s[p][1] = _mm256_fmadd_ps(v, w1, s[p][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      float* const to = of.sums + p * of.stride + half * k_lanes;
      _mm256_storeu_ps(to, of.more ? _mm256_add_ps(_mm256_loadu_ps(to), s[p][half]) : s[p][half]);
    }
}

template <Activation activation, bool adds>
void finish_whole(const DirectResults& of) {
  const __m256 bias[2] = {_mm256_loadu_ps(of.bias), _mm256_loadu_ps(of.bias + k_lanes)};
  for (std::int64_t p = 0; p < of.pixels; ++p)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = p * of.y_stride + half * k_lanes;
      __m256 sum =
          _mm256_add_ps(_mm256_loadu_ps(of.sums + p * of.stride + half * k_lanes), bias[half]);
      if (adds) sum = _mm256_add_ps(sum, _mm256_loadu_ps(of.add + at));
      _mm256_storeu_ps(of.y + at, activated<activation>(sum));
    }
}

// Fewer than k_outputs channels. Stores by a mask take several times as long as whole ones.
template <Activation activation>
void finish_part(const DirectResults& of) {
  for (std::int64_t p = 0; p < of.pixels; ++p)
    for (std::int64_t c = 0; c < of.outputs; c += k_lanes) {
      const __m256i mask = mask_of(of.outputs - c);
      const std::int64_t at = p * of.y_stride + c;
      __m256 sum =
          _mm256_add_ps(_mm256_loadu_ps(of.sums + p * of.stride + c), _mm256_loadu_ps(of.bias + c));
      if (of.add != nullptr) sum = _mm256_add_ps(sum, _mm256_maskload_ps(of.add + at, mask));
      _mm256_maskstore_ps(of.y + at, mask, activated<activation>(sum));
    }
}

template <Activation activation>
void finish_with(const DirectResults& of) {
  if (of.outputs < k_outputs) return finish_part<activation>(of);
  of.add != nullptr ? finish_whole<activation, true>(of) : finish_whole<activation, false>(of);
}

void finish(const DirectResults& results, Activation activation) {
  switch (activation) {
    case Activation::none:
      return finish_with<Activation::none>(results);
    case Activation::relu:
      return finish_with<Activation::relu>(results);
    case Activation::silu:
      return finish_with<Activation::silu>(results);
  }
}

constexpr DirectSteps k_steps{multiply, finish};

}  // namespace

const DirectSteps& avx2_direct_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const DirectSteps& avx2_direct_steps() { return portable_direct_steps(); }

}  // namespace navtalk::kernels

#endif
