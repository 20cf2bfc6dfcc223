// A row of the picture in AVX-512. See rows_avx512.cpp about what may be used here.
#include "gpu/kernels/conv/output_conv.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

// What `pixels` pixels of the map from x on give to their neighbours, [pixels][16].
template <int pixels>
void partial_sums(const OutputRow<std::uint16_t>& row, std::int64_t x, float* to) {
  __m512 sums[pixels];
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) sums[p] = _mm512_setzero_ps();
  const std::uint16_t* weights = row.weights;
  for (int r = 0; r < 3; ++r) {
    const std::uint16_t* from = row.rows[r] + x * row.in;
    for (std::int64_t i = 0; i < row.in; i += 2, weights += 2 * k_lanes) {
      __m512bh w;
      __builtin_memcpy(&w, weights, sizeof w);
#pragma GCC unroll 16
      for (int p = 0; p < pixels; ++p) {
        std::int32_t pair;
        __builtin_memcpy(&pair, from + p * row.in + i, sizeof pair);
        const __m512i both = _mm512_set1_epi32(pair);
        __m512bh v;
        __builtin_memcpy(&v, &both, sizeof v);
        sums[p] = _mm512_dpbf16_ps(sums[p], v, w);
      }
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) _mm512_storeu_ps(to + p * k_lanes, sums[p]);
}

}  // namespace

void avx512_output_row(const OutputRow<std::uint16_t>& row) {
  float* const partial = row.partial + k_lanes;  // one pixel of zeros on either side
  _mm512_storeu_ps(row.partial, _mm512_setzero_ps());
  _mm512_storeu_ps(partial + row.width * k_lanes, _mm512_setzero_ps());
  std::int64_t x = 0;
  for (; x + 8 <= row.width; x += 8) partial_sums<8>(row, x, partial + x * k_lanes);
  for (; x < row.width; ++x) partial_sums<1>(row, x, partial + x * k_lanes);
  const __m128 bias = _mm_loadu_ps(row.bias);
  for (x = 0; x < row.width; ++x) {
    const float* middle = partial + x * k_lanes;
    const __m128 sides =
        _mm_add_ps(_mm_loadu_ps(middle - k_lanes), _mm_loadu_ps(middle + k_lanes + 8));
    _mm_storeu_ps(row.y + x * 4, _mm_add_ps(_mm_add_ps(sides, _mm_loadu_ps(middle + 4)), bias));
  }
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

void avx512_output_row(const OutputRow<std::uint16_t>& row) { portable_output_row(row); }

}  // namespace navtalk::kernels

#endif
