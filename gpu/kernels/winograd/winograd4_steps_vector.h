// The steps of Winograd's F(4x4, 3x3) over vectors of k_lanes floats. Only for winograd4_steps_avx2.cpp and _avx512.cpp, which
// include the vectors of their width before; all of it has internal linkage. Both widths give the same sums.
#pragma once

#include "gpu/kernels/winograd/base_change4.h"
#include "gpu/kernels/winograd/winograd4_steps.h"

namespace navtalk::kernels {
namespace {

using Vector = Floats::Vector;
constexpr std::int64_t k_vectors = k_group4 / k_lanes;  // that hold a group of channels

inline Vector of(float x) { return Floats::all(x); }

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
      Vector d[6], v[6];
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i)
        d[i] = inside ? Floats::load(strip.rows[i] + x * in + c + half) : Floats::zero();
      to_positions4(d, v, of);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) Floats::store(to + i * k_group4 + half, v[i]);
    }
  }
}

void transform(const TileBlock& block, const TileStrip& strip) {
  alignas(64) float columns[(4 * k_near + 2) * 6 * k_group4];
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
            Vector d[6], v[6];
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) d[j] = Floats::load(from + j * 6 * k_group4);
            to_positions4(d, v, of);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j, tile += position) Floats::store(tile, v[j]);
          }
        }
    }
}

// `tiles` tiles by 16 output channels of one position.
template <bool more, std::int64_t tiles>
inline void products_of(const float* inputs, std::int64_t next_group, const float* weights,
                        std::int64_t depth, float* products, const float* soon,
                        std::int64_t soon_count) {
  Vector sums[tiles][k_vectors];
#pragma GCC unroll 12
  for (std::int64_t t = 0; t < tiles; ++t)
#pragma GCC unroll 2
    for (std::int64_t v = 0; v < k_vectors; ++v) sums[t][v] = Floats::zero();
  for (std::int64_t c = 0; c < depth; c += k_group4, inputs += next_group, soon += soon_count) {
    fetch(soon, soon_count);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < k_group4; ++i, weights += k_group4) {
      Vector w[k_vectors];
#pragma GCC unroll 2
      for (std::int64_t v = 0; v < k_vectors; ++v) w[v] = Floats::load(weights + v * k_lanes);
#pragma GCC unroll 12
      for (std::int64_t t = 0; t < tiles; ++t) {
        const Vector x = Floats::all(inputs[t * k_group4 + i]);
#pragma GCC unroll 2
        for (std::int64_t v = 0; v < k_vectors; ++v)
          sums[t][v] = Floats::multiply_add(x, w[v], sums[t][v]);
      }
    }
  }
#pragma GCC unroll 12
  for (std::int64_t t = 0; t < tiles; ++t)
#pragma GCC unroll 2
    for (std::int64_t v = 0; v < k_vectors; ++v) {
      float* to = products + t * k_group4 + v * k_lanes;
      Floats::store(to, more ? Floats::add(Floats::load(to), sums[t][v]) : sums[t][v]);
    }
}

// Tiles that are multiplied at once, so that sums, weights and inputs fill the registers.
constexpr std::int64_t k_at_once = 2 * k_rows4 / k_vectors;

// While tiles are multiplied, the weights that follow are fetched into the second cache.
void multiply(const TileBlock& block, std::int64_t begin, std::int64_t end) {
  const std::int64_t in = block.conv->in, out = block.conv->out;
  const std::int64_t position_size = block.room * k_group4;
  const std::int64_t next_group = k_positions4 * position_size;
  const std::int64_t passes = (block.tiles + k_at_once - 1) / k_at_once;
  for (std::int64_t first = 0; first < in; first += k_part4) {
    const std::int64_t depth = in - first < k_part4 ? in - first : k_part4;
    const float* part = block.conv->weights.data() + first * k_positions4 * out;
    const std::int64_t soon = (k_group4 * k_group4 / passes + 15) / 16 * 16;
    for (std::int64_t position = 0; position < k_positions4; ++position) {
      const float* inputs =
          block.inputs + first * k_positions4 * block.room + position * position_size;
      for (std::int64_t o = begin; o < end; o += k_group4) {
        const float* weights = part + (position * out + o) * depth;
        const float* next = weights + (o + k_group4 < end ? k_group4 : out + begin - o) * depth;
        if (position == k_positions4 - 1 && o + k_group4 == end) next = part + end * depth;
        float* products = block.products + (o - block.base) * k_positions4 * block.room +
                          position * position_size;
        for (std::int64_t t = 0; t < block.tiles; t += k_at_once, next += soon * depth / k_group4) {
          // The room for tiles is a multiple of k_rows4 only.
          const bool few = block.tiles - t <= k_rows4;
          const auto one = first == 0
                               ? (few ? products_of<false, k_rows4> : products_of<false, k_at_once>)
                               : (few ? products_of<true, k_rows4> : products_of<true, k_at_once>);
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
    const Vector bias = Floats::load(block.conv->bias.data() + o);
    const float* from =
        block.products + (o - block.base) / k_group4 * k_positions4 * position + o % k_group4;
    for (std::int64_t t = 0; t < strip.tiles; ++t) {
      const float* products = from + (strip.slot + t) * k_group4;
      Vector columns[6][4];  // [column position][row of pixels]
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        Vector m[6];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) m[i] = Floats::load(products + (i * 6 + j) * position);
        to_pixels4(m, columns[j], of);
      }
      const std::int64_t x = (strip.first_tile + t) * 4;
      const std::int64_t wide = block.width - x < 4 ? block.width - x : 4;
      for (int i = 0; i < 4 && strip.y[i] != nullptr; ++i) {
        Vector m[6], pixels[4];
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) m[j] = columns[j][i];
        to_pixels4(m, pixels, of);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          if (j >= wide) break;
          const std::int64_t at = (x + j) * out + o;
          Vector sum = Floats::add(pixels[j], bias);
          if (strip.add[i] != nullptr) sum = Floats::add(sum, Floats::load(strip.add[i] + at));
          Floats::store(strip.y[i] + at, activated<activation>(sum));
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
}  // namespace navtalk::kernels
