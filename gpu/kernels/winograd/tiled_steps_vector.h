// The steps of a tiled convolution over vectors of k_lanes floats. Only for tiled_steps_avx2.cpp and _avx512.cpp, which include
// the vectors of their width before; all of it has internal linkage. Both widths give the same sums.
#pragma once

#include "gpu/kernels/winograd/tiled_steps.h"
#include "gpu/kernels/winograd/tilings.h"

namespace navtalk::kernels {
namespace {

using Vector = Floats::Vector;
constexpr std::int64_t k_vectors = k_group / k_lanes;  // that hold a group of channels

inline Vector of(float x) { return Floats::all(x); }

template <class Tiling>
constexpr std::int64_t place_of(int i, int j) {
  return k_order<Tiling>.place[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}

// Columns of the strip as row positions: each is made once, though neighbouring patches share some.
template <class Tiling>
inline void columns_of(const TileBlock& block, const TileStrip& strip, std::int64_t first,
                       std::int64_t count, std::int64_t c, float* to) {
  constexpr int patch = Tiling::k_patch, positions = Tiling::k_positions;
  const std::int64_t in = block.conv->in;
  for (std::int64_t k = 0; k < count; ++k, to += positions * k_group) {
    const std::int64_t x = first + k;
    const bool inside = x >= 0 && x < block.width;
    for (std::int64_t half = 0; half < k_group; half += k_lanes) {
      Vector d[patch], v[positions];
#pragma GCC unroll 9
      for (int i = 0; i < patch; ++i)
        d[i] = inside ? Floats::load(strip.rows[i] + x * in + c + half) : Floats::zero();
      Tiling::to_positions(d, v, of);
#pragma GCC unroll 9
      for (int i = 0; i < positions; ++i) Floats::store(to + i * k_group + half, v[i]);
    }
  }
}

template <class Tiling>
void transform(const TileBlock& block, const TileStrip& strip) {
  constexpr int patch = Tiling::k_patch, positions = Tiling::k_positions, step = Tiling::k_step;
  constexpr std::int64_t column = positions * k_group;
  // Tiles whose columns stay in the first cache, 16 channels of them.
  constexpr std::int64_t most = step > 4 ? 4 : 8;
  alignas(64) float columns[(step * (most - 1) + patch) * column];
  const std::int64_t position = block.room * k_group;
  for (std::int64_t c = 0; c < block.conv->in; c += k_group)
    for (std::int64_t begin = 0; begin < strip.tiles; begin += most) {
      const std::int64_t near = strip.tiles - begin < most ? strip.tiles - begin : most;
      columns_of<Tiling>(block, strip, (strip.first_tile + begin) * step - Tiling::k_before,
                         step * (near - 1) + patch, c, columns);
      float* const to = block.inputs + c * k_order<Tiling>.k_positions * block.room +
                        (strip.slot + begin) * k_group;
      for (std::int64_t t = 0; t < near; ++t)
        for (std::int64_t half = 0; half < k_group; half += k_lanes) {
          const float* from = columns + t * step * column + half;
          float* const tile = to + t * k_group + half;
          for (int i = 0; i < positions; ++i, from += k_group) {
            Vector d[patch], v[positions];
#pragma GCC unroll 9
            for (int j = 0; j < patch; ++j) d[j] = Floats::load(from + j * column);
            Tiling::to_positions(d, v, of);
#pragma GCC unroll 9
            for (int j = 0; j < positions; ++j)
              Floats::store(tile + place_of<Tiling>(i, j) * position, v[j]);
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
  for (std::int64_t c = 0; c < depth; c += k_group, inputs += next_group, soon += soon_count) {
    fetch(soon, soon_count);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < k_group; ++i, weights += k_group) {
      Vector w[k_vectors];
#pragma GCC unroll 2
      for (std::int64_t v = 0; v < k_vectors; ++v) w[v] = Floats::load(weights + v * k_lanes);
#pragma GCC unroll 12
      for (std::int64_t t = 0; t < tiles; ++t) {
        const Vector x = Floats::all(inputs[t * k_group + i]);
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
      float* to = products + t * k_group + v * k_lanes;
      Floats::store(to, more ? Floats::add(Floats::load(to), sums[t][v]) : sums[t][v]);
    }
}

// Tiles that are multiplied at once, so that sums, weights and inputs fill the registers.
constexpr std::int64_t k_at_once = 2 * k_rows / k_vectors;

// The products of one position of all tiles with 16 outputs. The weights that follow are fetched into the second cache meanwhile: from
// `next` on as long as there are any, `soon` for each group of channels.
struct PositionProducts {
  const float* inputs;
  std::int64_t next_group;
  const float* weights;
  std::int64_t depth;
  float* products;
  bool more;
};
inline void multiply_position(const PositionProducts& one, std::int64_t tiles, const float*& next,
                              const float* next_end, std::int64_t soon) {
  for (std::int64_t t = 0; t < tiles; t += k_at_once) {
    // The room for tiles is a multiple of k_rows only.
    const bool few = tiles - t <= k_rows;
    const auto all = one.more ? (few ? products_of<true, k_rows> : products_of<true, k_at_once>)
                              : (few ? products_of<false, k_rows> : products_of<false, k_at_once>);
    const bool fetches = next < next_end;
    all(one.inputs + t * k_group, one.next_group, one.weights, one.depth,
        one.products + t * k_group, next, fetches ? soon : 0);
    if (fetches) next += soon * one.depth / k_group;
  }
}

template <class Tiling>
void multiply(const TileBlock& block, std::int64_t begin, std::int64_t end) {
  constexpr auto& order = k_order<Tiling>;
  const std::int64_t in = block.conv->in, out = block.conv->out;
  const std::int64_t position_size = block.room * k_group;
  const std::int64_t passes = (block.tiles + k_at_once - 1) / k_at_once;
  for (std::int64_t first = 0; first < in; first += k_part) {
    const std::int64_t depth = in - first < k_part ? in - first : k_part;
    const float* const part = block.conv->weights.data() + first * order.k_weights * out;
    const float* const inputs = block.inputs + first * order.k_positions * block.room;
    for (int weight = 0; weight < order.k_weights; ++weight) {
      const int position = order.first[static_cast<std::size_t>(weight)];
      const int after = order.first[static_cast<std::size_t>(weight) + 1];
      const std::int64_t calls = passes * (after - position);
      const std::int64_t soon = (k_group * k_group / calls + 15) / 16 * 16;
      for (std::int64_t o = begin; o < end; o += k_group) {
        const float* weights = part + (weight * out + o) * depth;
        const float* next = weights + (o + k_group < end ? k_group : out + begin - o) * depth;
        if (weight == order.k_weights - 1 && o + k_group == end) next = part + end * depth;
        const float* const next_end = next + k_group * depth;
        float* const products = block.products + (o - block.base) * order.k_positions * block.room;
        for (int p = position; p < after; ++p)
          multiply_position({.inputs = inputs + p * position_size,
                             .next_group = order.k_positions * position_size,
                             .weights = weights,
                             .depth = depth,
                             .products = products + p * position_size,
                             .more = first > 0},
                            block.tiles, next, next_end, soon);
      }
    }
  }
}

template <class Tiling, Activation activation>
void finish_with(const TileBlock& block, const TileStrip& strip, std::int64_t begin,
                 std::int64_t end) {
  constexpr int positions = Tiling::k_positions, wide_pixels = Tiling::k_pixels;
  const std::int64_t out = block.conv->out, position = block.room * k_group;
  for (std::int64_t o = begin; o < end; o += k_lanes) {
    const Vector bias = Floats::load(block.conv->bias.data() + o);
    const float* from = block.products +
                        (o - block.base) / k_group * k_order<Tiling>.k_positions * position +
                        o % k_group;
    for (std::int64_t t = 0; t < strip.tiles; ++t) {
      const float* products = from + (strip.slot + t) * k_group;
      Vector columns[positions][wide_pixels];  // [column position][row of pixels]
#pragma GCC unroll 9
      for (int j = 0; j < positions; ++j) {
        Vector m[positions];
#pragma GCC unroll 9
        for (int i = 0; i < positions; ++i)
          m[i] = Floats::load(products + place_of<Tiling>(i, j) * position);
        Tiling::to_pixels(m, columns[j], of);
      }
      const std::int64_t x = (strip.first_tile + t) * wide_pixels;
      const std::int64_t wide = block.y_width - x < wide_pixels ? block.y_width - x : wide_pixels;
      for (int i = 0; i < wide_pixels && strip.y[i] != nullptr; ++i) {
        Vector m[positions], pixels[wide_pixels];
#pragma GCC unroll 9
        for (int j = 0; j < positions; ++j) m[j] = columns[j][i];
        Tiling::to_pixels(m, pixels, of);
#pragma GCC unroll 4
        for (int j = 0; j < wide_pixels; ++j) {
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

template <class Tiling>
void finish(const TileBlock& block, const TileStrip& strip, std::int64_t begin, std::int64_t end) {
  switch (block.conv->activation) {
    case Activation::none:
      return finish_with<Tiling, Activation::none>(block, strip, begin, end);
    case Activation::relu:
      return finish_with<Tiling, Activation::relu>(block, strip, begin, end);
    case Activation::silu:
      return finish_with<Tiling, Activation::silu>(block, strip, begin, end);
  }
}

template <class Tiling>
constexpr TiledSteps k_steps{transform<Tiling>, multiply<Tiling>, finish<Tiling>};

inline const TiledSteps& steps_of(TiledKind kind) {
  switch (kind) {
    case TiledKind::three:
      break;
    case TiledKind::three_halving:
      return k_steps<FourOfThreeHalving>;
    case TiledKind::seven:
      return k_steps<TwoOfSeven>;
  }
  return k_steps<FourOfThree>;
}

}  // namespace
}  // namespace navtalk::kernels
