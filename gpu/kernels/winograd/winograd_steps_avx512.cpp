// The steps of a Winograd convolution of bf16 maps in AVX-512, 16 channels at a time. Compiled with -mavx512* flags,
// so nothing here may instantiate a template that other sources share: the linker could keep this
// copy for every CPU.
#include <cstdint>

#include "gpu/kernels/winograd/winograd_steps.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/avx512.h"
#include "gpu/kernels/winograd/base_change.h"

namespace navtalk::kernels {
namespace {

using Run = TileRun<std::uint16_t>;

// Column x of the patches' rows, 16 channels from c on, as row positions.
template <WinogradKind kind>
inline void column(const Run& run, std::int64_t x, std::int64_t c, __m512* v) {
  __m512 d[k_side<kind>];
  const bool inside = x >= 0 && x < run.width;
#pragma GCC unroll 16
  for (int i = 0; i < k_side<kind>; ++i)
    d[i] = inside ? Bf16::load(run.rows[i] + x * run.in + c) : _mm512_setzero_ps();
  to_positions<kind>(d, v);
}

// Neighbouring patches share columns, which are made once. Two tiles go together, for that is how
// many fill a register with bf16; the room is a multiple of two.
template <WinogradKind kind>
void transform_kind(const Run& run) {
  constexpr int k = k_side<kind>, step = kind == WinogradKind::same ? 2 : 1;
  const std::int64_t position = run.room * run.in;
  for (std::int64_t c = 0; c < run.in; c += k_lanes) {
    __m512 columns[k + step][k];  // [column][row position]
    std::int64_t x = run.first_tile * step - 1;
#pragma GCC unroll 16
    for (int j = 0; j + step < k; ++j, ++x) column<kind>(run, x, c, columns[j]);
    for (std::int64_t t = 0; t < run.tiles; t += 2) {
#pragma GCC unroll 16
      for (int j = k - step; j < k + step; ++j, ++x) column<kind>(run, x, c, columns[j]);
      std::uint16_t* to = run.inputs + c * run.room + t * k_lanes;
#pragma GCC unroll 16
      for (int i = 0; i < k; ++i) {
        __m512 d[k + step], v[2][k];
#pragma GCC unroll 16
        for (int j = 0; j < k + step; ++j) d[j] = columns[j][i];
        to_positions<kind>(d, v[0]);
        to_positions<kind>(d + step, v[1]);
#pragma GCC unroll 16
        for (int j = 0; j < k; ++j) {
          const __m512bh both = _mm512_cvtne2ps_pbh(v[1][j], v[0][j]);
          __builtin_memcpy(to + (i * k + j) * position, &both, sizeof both);
        }
      }
#pragma GCC unroll 16
      for (int j = 0; j + step < k; ++j)
#pragma GCC unroll 16
        for (int i = 0; i < k; ++i) columns[j][i] = columns[j + 2 * step][i];
    }
  }
}

void transform(const Run& run) {
  if (run.kind == WinogradKind::same)
    transform_kind<WinogradKind::same>(run);
  else
    transform_kind<WinogradKind::doubled>(run);
}

// `tiles` tiles by 16 * `groups` output channels of one position.
template <int tiles, int groups>
inline void block(const Run& run, const std::uint16_t* inputs, const std::uint16_t* weights,
                  float* products) {
  __m512 sums[tiles][groups];
#pragma GCC unroll 16
  for (int t = 0; t < tiles; ++t)
#pragma GCC unroll 16
    for (int g = 0; g < groups; ++g) sums[t][g] = _mm512_setzero_ps();
  const std::int64_t group = run.in * k_lanes;
  for (std::int64_t c = 0; c < run.in; c += k_lanes, inputs += run.room * k_lanes)
    for (std::int64_t i = 0; i < k_lanes; i += 2, weights += 2 * k_lanes) {
      __m512bh w[groups];
#pragma GCC unroll 16
      for (int g = 0; g < groups; ++g) __builtin_memcpy(&w[g], weights + g * group, sizeof w[g]);
#pragma GCC unroll 16
      for (int t = 0; t < tiles; ++t) {
        std::int32_t pair;
        __builtin_memcpy(&pair, inputs + t * k_lanes + i, sizeof pair);
        const __m512i both = _mm512_set1_epi32(pair);
        __m512bh v;
        __builtin_memcpy(&v, &both, sizeof v);
#pragma GCC unroll 16
        for (int g = 0; g < groups; ++g) sums[t][g] = _mm512_dpbf16_ps(sums[t][g], v, w[g]);
      }
    }
#pragma GCC unroll 16
  for (int t = 0; t < tiles; ++t)
#pragma GCC unroll 16
    for (int g = 0; g < groups; ++g)
      _mm512_storeu_ps(products + t * run.out + g * k_lanes, sums[t][g]);
}

template <int tiles, int groups>
void blocks(const Run& run, std::int64_t position, std::int64_t o) {
  const std::uint16_t* weights = run.weights + (position * run.out + o) * run.in;
  for (std::int64_t t = 0; t < run.tiles; t += tiles)
    block<tiles, groups>(run, run.inputs + position * run.room * run.in + t * k_lanes, weights,
                         run.products + (position * run.room + t) * run.out + o);
}

void multiply(const Run& run) {
  const int side = patch_side(run.kind);
  for (std::int64_t position = 0; position < side * side; ++position) {
    std::int64_t o = 0;
    for (; o + 64 <= run.out; o += 64) blocks<4, 4>(run, position, o);
    for (; o + 32 <= run.out; o += 32) blocks<8, 2>(run, position, o);
    for (; o < run.out; o += 16) blocks<8, 1>(run, position, o);
  }
}

template <WinogradKind kind>
void finish_kind(const Run& run) {
  constexpr int k = k_side<kind>;
  for (std::int64_t o = 0; o < run.out; o += k_lanes) {
    const __m512 bias = _mm512_loadu_ps(run.bias + o);
    for (std::int64_t t = 0; t < run.tiles; ++t) {
      __m512 columns[2][k];  // [row of pixels][column position]
#pragma GCC unroll 16
      for (int j = 0; j < k; ++j) {
        __m512 m[k], two[2];
#pragma GCC unroll 16
        for (int i = 0; i < k; ++i)
          m[i] = _mm512_loadu_ps(run.products + ((i * k + j) * run.room + t) * run.out + o);
        to_pixels<kind>(m, two);
        columns[0][j] = two[0];
        columns[1][j] = two[1];
      }
#pragma GCC unroll 16
      for (int i = 0; i < 2; ++i) {
        __m512 pixels[2];
        to_pixels<kind>(columns[i], pixels);
#pragma GCC unroll 16
        for (int j = 0; j < 2; ++j) {
          const std::int64_t at = (2 * (run.first_tile + t) + j) * run.out + o;
          __m512 sum = _mm512_add_ps(pixels[j], bias);
          if (run.add[i] != nullptr) sum = _mm512_add_ps(sum, Bf16::load(run.add[i] + at));
          Bf16::store(run.y[i] + at, sum);
        }
      }
    }
  }
}

void finish(const Run& run) {
  if (run.kind == WinogradKind::same)
    finish_kind<WinogradKind::same>(run);
  else
    finish_kind<WinogradKind::doubled>(run);
}

constexpr WinogradSteps<std::uint16_t> k_steps{transform, multiply, finish};

}  // namespace

const WinogradSteps<std::uint16_t>& avx512_winograd_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const WinogradSteps<std::uint16_t>& avx512_winograd_steps() {
  return portable_winograd_steps<std::uint16_t>();
}

}  // namespace navtalk::kernels

#endif
