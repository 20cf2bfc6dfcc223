// The steps of a Winograd convolution of doubled fp32 maps in AVX2, 8 channels at a time. See rows_avx2.cpp about what
// may be used here.
#include <cstdint>

#include "gpu/kernels/winograd/winograd_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/winograd/base_change.h"

namespace navtalk::kernels {
namespace {

using Run = TileRun<float>;

constexpr std::int64_t k_group = 16;  // channels that lie together
constexpr WinogradKind k_kind = WinogradKind::doubled;
constexpr int k_lines = k_side<k_kind>;

// Column x of the patches' rows, 8 channels from c on, as row positions.
inline void column(const Run& run, std::int64_t x, std::int64_t c, __m256* v) {
  __m256 d[k_lines];
  const bool inside = x >= 0 && x < run.width;
#pragma GCC unroll 3
  for (int i = 0; i < k_lines; ++i)
    d[i] = inside ? _mm256_loadu_ps(run.rows[i] + x * run.in + c) : _mm256_setzero_ps();
  to_positions<k_kind>(d, v);
}

// Neighbouring patches share columns, which are made once and stay in the registers.
void transform(const Run& run) {
  const std::int64_t position = run.room * run.in;
  for (std::int64_t c = 0; c < run.in; c += k_lanes) {
    float* const to = run.inputs + c / k_group * k_group * run.room + c % k_group;
    __m256 columns[k_lines][k_lines];  // [column][row position]
    std::int64_t x = run.first_tile - 1;
#pragma GCC unroll 2
    for (int j = 0; j + 1 < k_lines; ++j, ++x) column(run, x, c, columns[j]);
    for (std::int64_t t = 0; t < run.tiles; ++t) {
      column(run, x++, c, columns[k_lines - 1]);
#pragma GCC unroll 3
      for (int i = 0; i < k_lines; ++i) {
        __m256 d[k_lines], v[k_lines];
#pragma GCC unroll 3
        for (int j = 0; j < k_lines; ++j) d[j] = columns[j][i];
        to_positions<k_kind>(d, v);
#pragma GCC unroll 3
        for (int j = 0; j < k_lines; ++j)
          _mm256_storeu_ps(to + t * k_group + (i * k_lines + j) * position, v[j]);
      }
#pragma GCC unroll 2
      for (int j = 0; j + 1 < k_lines; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < k_lines; ++i) columns[j][i] = columns[j + 1][i];
    }
  }
}

// k_rows tiles by 16 output channels of one position: twelve sums, two weights and two inputs fill the registers.
constexpr int k_rows = 6;

inline void block(const Run& run, const float* inputs, const float* weights, float* products) {
  __m256 sums[k_rows][2];
#pragma GCC unroll 6
  for (int t = 0; t < k_rows; ++t) sums[t][0] = sums[t][1] = _mm256_setzero_ps();
  for (std::int64_t c = 0; c < run.in; c += k_group, inputs += run.room * k_group)
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < k_group; ++i, weights += k_group) {
      const __m256 w0 = _mm256_loadu_ps(weights), w1 = _mm256_loadu_ps(weights + k_lanes);
#pragma GCC unroll 6
      for (int t = 0; t < k_rows; ++t) {
        const __m256 v = _mm256_broadcast_ss(inputs + t * k_group + i);
        sums[t][0] = _mm256_fmadd_ps(v, w0, sums[t][0]);
        sums[t][1] = _mm256_fmadd_ps(v, w1, sums[t][1]);
      }
    }
#pragma GCC unroll 6
  for (int t = 0; t < k_rows; ++t) {
    _mm256_storeu_ps(products + t * run.out, sums[t][0]);
    _mm256_storeu_ps(products + t * run.out + k_lanes, sums[t][1]);
  }
}

void multiply(const Run& run) {
  for (std::int64_t position = 0; position < k_lines * k_lines; ++position)
    for (std::int64_t o = 0; o < run.out; o += k_group)
      for (std::int64_t t = 0; t < run.tiles; t += k_rows)
        block(run, run.inputs + position * run.room * run.in + t * k_group,
              run.weights + (position * run.out + o) * run.in,
              run.products + (position * run.room + t) * run.out + o);
}

void finish(const Run& run) {
  for (std::int64_t o = 0; o < run.out; o += k_lanes) {
    const __m256 bias = _mm256_loadu_ps(run.bias + o);
    for (std::int64_t t = 0; t < run.tiles; ++t) {
      __m256 columns[2][k_lines];  // [row of pixels][column position]
#pragma GCC unroll 3
      for (int j = 0; j < k_lines; ++j) {
        __m256 m[k_lines], two[2];
#pragma GCC unroll 3
        for (int i = 0; i < k_lines; ++i)
          m[i] = _mm256_loadu_ps(run.products + ((i * k_lines + j) * run.room + t) * run.out + o);
        to_pixels<k_kind>(m, two);
        columns[0][j] = two[0];
        columns[1][j] = two[1];
      }
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        __m256 pixels[2];
        to_pixels<k_kind>(columns[i], pixels);
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
          const std::int64_t at = (2 * (run.first_tile + t) + j) * run.out + o;
          __m256 sum = _mm256_add_ps(pixels[j], bias);
          if (run.add[i] != nullptr) sum = _mm256_add_ps(sum, _mm256_loadu_ps(run.add[i] + at));
          _mm256_storeu_ps(run.y[i] + at, sum);
        }
      }
    }
  }
}

constexpr WinogradSteps<float> k_steps{transform, multiply, finish};

}  // namespace

const WinogradSteps<float>& avx2_winograd_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const WinogradSteps<float>& avx2_winograd_steps() { return portable_winograd_steps<float>(); }

}  // namespace navtalk::kernels

#endif
