// The inner loops of a direct convolution in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/conv/direct_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"

namespace navtalk::kernels {
namespace {

static_assert(k_pixels == 6 && k_outputs == 2 * k_lanes);

// Twelve sums, two weights and two inputs fill the registers.
void multiply(const float* const* pixels, const float* weights, std::int64_t depth, float* sums,
              std::int64_t stride, bool more) {
  const float *const p0 = pixels[0], *const p1 = pixels[1], *const p2 = pixels[2];
  const float *const p3 = pixels[3], *const p4 = pixels[4], *const p5 = pixels[5];
  __m256 s[k_pixels][2];
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p) s[p][0] = s[p][1] = _mm256_setzero_ps();
#pragma GCC unroll 2
  for (std::int64_t i = 0; i < depth; ++i, weights += k_outputs) {
    const __m256 w0 = _mm256_loadu_ps(weights), w1 = _mm256_loadu_ps(weights + k_lanes);
    const float* const at[k_pixels] = {p0 + i, p1 + i, p2 + i, p3 + i, p4 + i, p5 + i};
#pragma GCC unroll 6
    for (std::int64_t p = 0; p < k_pixels; ++p) {
      const __m256 v = _mm256_broadcast_ss(at[p]);
      s[p][0] = _mm256_fmadd_ps(v, w0, s[p][0]);
      s[p][1] = _mm256_fmadd_ps(v, w1, s[p][1]);
    }
  }
#pragma GCC unroll 6
  for (std::int64_t p = 0; p < k_pixels; ++p)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      float* const to = sums + p * stride + half * k_lanes;
      _mm256_storeu_ps(to, more ? _mm256_add_ps(_mm256_loadu_ps(to), s[p][half]) : s[p][half]);
    }
}

template <Activation activation>
void finish_with(const float* sums, const float* bias, const float* add, float* y,
                 std::int64_t count) {
  for (std::int64_t c = 0; c < count; c += k_lanes) {
    const __m256i mask = mask_of(count - c);
    __m256 sum = _mm256_add_ps(_mm256_loadu_ps(sums + c), _mm256_loadu_ps(bias + c));
    if (add != nullptr) sum = _mm256_add_ps(sum, _mm256_maskload_ps(add + c, mask));
    _mm256_maskstore_ps(y + c, mask, activated<activation>(sum));
  }
}

void finish(const float* sums, const float* bias, const float* add, float* y, std::int64_t count,
            Activation activation) {
  switch (activation) {
    case Activation::none:
      return finish_with<Activation::none>(sums, bias, add, y, count);
    case Activation::relu:
      return finish_with<Activation::relu>(sums, bias, add, y, count);
    case Activation::silu:
      return finish_with<Activation::silu>(sums, bias, add, y, count);
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
