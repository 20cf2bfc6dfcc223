// The steps of Winograd's F(4x4, 3x3) in AVX2, 8 channels at a time. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/winograd/winograd4_steps.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"
#include "gpu/kernels/winograd/base_change4.h"

namespace navtalk::kernels {
namespace {

inline __m256 of(float x) { return _mm256_set1_ps(x); }

// Tiles whose columns stay in the first cache, 16 channels of them.
constexpr std::int64_t k_near = 8;

// Columns of the strip as row positions: each is made once, though neighbouring patches share two.
inline void columns_of(const TileBlock& block, const TileStrip& strip, std::int64_t first,
                       std::int64_t count, std::int64_t c, float* to) {
  const std::int64_t in = block.conv->in;
  for (std::int64_t k = 0; k < count; ++k, to += 6 * k_group4) {
    const std::int64_t x = first + k;
    const bool inside = x >= 0 && x < block.width;
    for (std::int64_t half = 0; half < k_group4; half += k_lanes) {
      __m256 d[6], v[6];
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i)
        d[i] = inside ? _mm256_loadu_ps(strip.rows[i] + x * in + c + half) : _mm256_setzero_ps();
      to_positions4(d, v, of);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) _mm256_store_ps(to + i * k_group4 + half, v[i]);
    }
  }
}

void transform(const TileBlock& block, const TileStrip& strip) {
  alignas(32) float columns[(4 * k_near + 2) * 6 * k_group4];
  const std::int64_t position = block.room * k_group4;
  for (std::int64_t c = 0; c < block.conv->in; c += k_group4)
    for (std::int64_t begin = 0; begin < strip.tiles; begin += k_near) {
      const std::int64_t near = strip.tiles - begin < k_near ? strip.tiles - begin : k_near;
      columns_of(block, strip, (strip.first_tile + begin) * 4 - 1, 4 * near + 2, c, columns);
      float* const to =
          block.inputs + c * k_positions4 * block.room + (strip.slot + begin) * k_group4;
      for (std::int64_t t = 0; t < near; ++t)
        for (std::int64_t half = 0; half < k_group4; half += k_lanes) {
          const float* from = columns + t * 4 * 6 * k_group4 + half;
          float* tile = to + t * k_group4 + half;
          for (int i = 0; i < 6; ++i, from += k_group4) {
            __m256 d[6], v[6];
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) d[j] = _mm256_load_ps(from + j * 6 * k_group4);
            to_positions4(d, v, of);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j, tile += position) _mm256_storeu_ps(tile, v[j]);
          }
        }
    }
}

inline void fetch(const float* from, std::int64_t count) {
  constexpr std::int64_t k_line = 16;
  for (std::int64_t i = 0; i < count; i += k_line)
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
}

// k_rows4 tiles by 16 output channels of one position: twelve sums, two weights and two inputs fill the registers.
template <bool more>
inline void products_of(const float* inputs, std::int64_t next_group, const float* weights,
                        std::int64_t depth, float* products, const float* soon,
                        std::int64_t soon_count) {
  __m256 sums[k_rows4][2];
#pragma GCC unroll 6
  for (std::int64_t t = 0; t < k_rows4; ++t) sums[t][0] = sums[t][1] = _mm256_setzero_ps();
  for (std::int64_t c = 0; c < depth; c += k_group4, inputs += next_group, soon += soon_count) {
    fetch(soon, soon_count);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < k_group4; ++i, weights += k_group4) {
      const __m256 w0 = _mm256_loadu_ps(weights), w1 = _mm256_loadu_ps(weights + k_lanes);
#pragma GCC unroll 6
      for (std::int64_t t = 0; t < k_rows4; ++t) {
        const __m256 v = _mm256_broadcast_ss(inputs + t * k_group4 + i);
        sums[t][0] = _mm256_fmadd_ps(v, w0, sums[t][0]);
        sums[t][1] = _mm256_fmadd_ps(v, w1, sums[t][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (std::int64_t t = 0; t < k_rows4; ++t)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      float* to = products + t * k_group4 + half * k_lanes;
      __m256 sum = sums[t][half];
      if (more) sum = _mm256_add_ps(_mm256_loadu_ps(to), sum);
      _mm256_storeu_ps(to, sum);
    }
}

// While tiles are multiplied, the weights that follow are fetched into the second cache.
void multiply(const TileBlock& block, std::int64_t begin, std::int64_t end) {
  const std::int64_t in = block.conv->in, out = block.conv->out;
  const std::int64_t position_size = block.room * k_group4;
  const std::int64_t next_group = k_positions4 * position_size;
  const std::int64_t rows = (block.tiles + k_rows4 - 1) / k_rows4;
  for (std::int64_t first = 0; first < in; first += k_part4) {
    const std::int64_t depth = in - first < k_part4 ? in - first : k_part4;
    const float* part = block.conv->weights.data() + first * k_positions4 * out;
    const std::int64_t soon = (k_group4 * k_group4 / rows + 15) / 16 * 16;
    for (std::int64_t position = 0; position < k_positions4; ++position) {
      const float* inputs =
          block.inputs + first * k_positions4 * block.room + position * position_size;
      for (std::int64_t o = begin; o < end; o += k_group4) {
        const float* weights = part + (position * out + o) * depth;
        const float* next = weights + (o + k_group4 < end ? k_group4 : out + begin - o) * depth;
        if (position == k_positions4 - 1 && o + k_group4 == end) next = part + end * depth;
        float* products = block.products + (o - block.base) * k_positions4 * block.room +
                          position * position_size;
        for (std::int64_t t = 0; t < block.tiles; t += k_rows4, next += soon * depth / k_group4) {
          const auto one = first == 0 ? products_of<false> : products_of<true>;
          one(inputs + t * k_group4, next_group, weights, depth, products + t * k_group4, next,
              soon);
        }
      }
    }
  }
}

template <Activation activation>
void finish_with(const TileBlock& block, const TileStrip& strip, std::int64_t begin,
                 std::int64_t end) {
  const std::int64_t out = block.conv->out, position = block.room * k_group4;
  for (std::int64_t o = begin; o < end; o += k_lanes) {
    const __m256 bias = _mm256_loadu_ps(block.conv->bias.data() + o);
    const float* from =
        block.products + (o - block.base) / k_group4 * k_positions4 * position + o % k_group4;
    for (std::int64_t t = 0; t < strip.tiles; ++t) {
      const float* products = from + (strip.slot + t) * k_group4;
      __m256 columns[6][4];  // [column position][row of pixels]
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        __m256 m[6];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) m[i] = _mm256_loadu_ps(products + (i * 6 + j) * position);
        to_pixels4(m, columns[j], of);
      }
      const std::int64_t x = (strip.first_tile + t) * 4;
      const std::int64_t wide = block.width - x < 4 ? block.width - x : 4;
      for (int i = 0; i < 4 && strip.y[i] != nullptr; ++i) {
        __m256 m[6], pixels[4];
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) m[j] = columns[j][i];
        to_pixels4(m, pixels, of);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          if (j >= wide) break;
          const std::int64_t at = (x + j) * out + o;
          __m256 sum = _mm256_add_ps(pixels[j], bias);
          if (strip.add[i] != nullptr) sum = _mm256_add_ps(sum, _mm256_loadu_ps(strip.add[i] + at));
          _mm256_storeu_ps(strip.y[i] + at, activated<activation>(sum));
        }
      }
    }
  }
}

void finish(const TileBlock& block, const TileStrip& strip, std::int64_t begin, std::int64_t end) {
  switch (block.conv->activation) {
    case Activation::none:
      return finish_with<Activation::none>(block, strip, begin, end);
    case Activation::relu:
      return finish_with<Activation::relu>(block, strip, begin, end);
    case Activation::silu:
      return finish_with<Activation::silu>(block, strip, begin, end);
  }
}

constexpr Winograd4Steps k_steps{transform, multiply, finish};

}  // namespace

const Winograd4Steps& avx2_winograd4_steps() { return k_steps; }

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const Winograd4Steps& avx2_winograd4_steps() { return portable_winograd4_steps(); }

}  // namespace navtalk::kernels

#endif
