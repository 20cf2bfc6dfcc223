// A row of the picture from an fp32 map in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/conv/output_conv.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"

namespace navtalk::kernels {
namespace {

constexpr std::int64_t k_sums = 2 * k_lanes;  // of a pixel

// What `pixels` pixels of the map from x on give to their neighbours, [pixels][16].
template <int pixels>
void partial_sums(const OutputRow<float>& row, std::int64_t x, float* to) {
  __m256 sums[pixels][2];
#pragma GCC unroll 6
  for (int p = 0; p < pixels; ++p) sums[p][0] = sums[p][1] = _mm256_setzero_ps();
  const float* weights = row.weights;
  for (int r = 0; r < 3; ++r) {
    const float* from = row.rows[r] + x * row.in;
    for (std::int64_t i = 0; i < row.in; ++i, weights += k_sums) {
      const __m256 w0 = _mm256_loadu_ps(weights), w1 = _mm256_loadu_ps(weights + k_lanes);
#pragma GCC unroll 6
      for (int p = 0; p < pixels; ++p) {
        const __m256 v = _mm256_broadcast_ss(from + p * row.in + i);
        sums[p][0] = _mm256_fmadd_ps(v, w0, sums[p][0]);
        sums[p][1] = _mm256_fmadd_ps(v, w1, sums[p][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (int p = 0; p < pixels; ++p) {
    _mm256_storeu_ps(to + p * k_sums, sums[p][0]);
    _mm256_storeu_ps(to + p * k_sums + k_lanes, sums[p][1]);
  }
}

}  // namespace

void avx2_output_row(const OutputRow<float>& row) {
  float* const partial = row.partial + k_sums;  // one pixel of zeros on either side
  for (std::int64_t i = 0; i < k_sums; i += k_lanes) {
    _mm256_storeu_ps(row.partial + i, _mm256_setzero_ps());
    _mm256_storeu_ps(partial + row.width * k_sums + i, _mm256_setzero_ps());
  }
  std::int64_t x = 0;
  for (; x + 6 <= row.width; x += 6) partial_sums<6>(row, x, partial + x * k_sums);
  for (; x < row.width; ++x) partial_sums<1>(row, x, partial + x * k_sums);
  const __m128 bias = _mm_loadu_ps(row.bias);
  for (x = 0; x < row.width; ++x) {
    const float* middle = partial + x * k_sums;
    const __m128 sides =
        _mm_add_ps(_mm_loadu_ps(middle - k_sums), _mm_loadu_ps(middle + k_sums + 8));
    _mm_storeu_ps(row.y + x * 4, _mm_add_ps(_mm_add_ps(sides, _mm_loadu_ps(middle + 4)), bias));
  }
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

void avx2_output_row(const OutputRow<float>& row) { portable_output_row(row); }

}  // namespace navtalk::kernels

#endif
