// The portable steps: the clearest loops, and the twin that the vector ones are tested against.
#include "gpu/kernels/winograd/tiled_steps.h"

#include <algorithm>

#include "gpu/kernels/winograd/tilings.h"

namespace navtalk::kernels {
namespace {

float itself(float x) { return x; }

// Where a block keeps channel c of a slot's position.
template <class Tiling>
std::int64_t at(const TileBlock& block, std::int64_t position, std::int64_t slot, std::int64_t c) {
  return ((c / k_group * k_order<Tiling>.k_positions + position) * block.room + slot) * k_group +
         c % k_group;
}
template <class Tiling>
std::int64_t at(const TileBlock& block, int i, int j, std::int64_t slot, std::int64_t c) {
  const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
  return at<Tiling>(block, k_order<Tiling>.place[row][column], slot, c);
}

template <class Tiling>
void transform(const TileBlock& block, const TileStrip& strip) {
  constexpr int patch = Tiling::k_patch, positions = Tiling::k_positions;
  const std::int64_t in = block.conv->in;
  for (std::int64_t t = 0; t < strip.tiles; ++t)
    for (std::int64_t c = 0; c < in; ++c) {
      float columns[patch][positions];  // [column of the patch][row position]
      for (int j = 0; j < patch; ++j) {
        const std::int64_t x = (strip.first_tile + t) * Tiling::k_step - Tiling::k_before + j;
        float d[patch] = {};
        for (int i = 0; i < patch && x >= 0 && x < block.width; ++i)
          d[i] = strip.rows[i][x * in + c];
        Tiling::to_positions(d, columns[j], itself);
      }
      for (int i = 0; i < positions; ++i) {
        float d[patch], v[positions];
        for (int j = 0; j < patch; ++j) d[j] = columns[j][i];
        Tiling::to_positions(d, v, itself);
        for (int j = 0; j < positions; ++j)
          block.inputs[at<Tiling>(block, i, j, strip.slot + t, c)] = v[j];
      }
    }
}

template <class Tiling>
void multiply(const TileBlock& block, std::int64_t begin, std::int64_t end) {
  constexpr auto& order = k_order<Tiling>;
  const std::int64_t in = block.conv->in, out = block.conv->out;
  for (std::int64_t first = 0; first < in; first += k_part) {
    const std::int64_t depth = std::min(k_part, in - first);
    const float* part = block.conv->weights.data() + first * order.k_weights * out;
    for (int weight = 0, position = 0; weight < order.k_weights; ++weight)
      for (; position < order.first[static_cast<std::size_t>(weight) + 1]; ++position)
        for (std::int64_t t = 0; t < block.tiles; ++t)
          for (std::int64_t o = begin; o < end; ++o) {
            const float* w = part + (weight * out + o / k_group * k_group) * depth + o % k_group;
            float sum = 0;
            for (std::int64_t i = 0; i < depth; ++i)
              sum += block.inputs[at<Tiling>(block, position, t, first + i)] * w[i * k_group];
            float& product = block.products[at<Tiling>(block, position, t, o - block.base)];
            product = first == 0 ? sum : product + sum;
          }
  }
}

template <class Tiling>
void finish(const TileBlock& block, const TileStrip& strip, std::int64_t begin, std::int64_t end) {
  constexpr int positions = Tiling::k_positions, pixels = Tiling::k_pixels;
  const TiledConv& conv = *block.conv;
  for (std::int64_t t = 0; t < strip.tiles; ++t)
    for (std::int64_t o = begin; o < end; ++o) {
      float columns[positions][pixels];  // [column position][row of pixels]
      for (int j = 0; j < positions; ++j) {
        float m[positions];
        for (int i = 0; i < positions; ++i)
          m[i] = block.products[at<Tiling>(block, i, j, strip.slot + t, o - block.base)];
        Tiling::to_pixels(m, columns[j], itself);
      }
      for (int i = 0; i < pixels && strip.y[i] != nullptr; ++i) {
        float m[positions], row[pixels];
        for (int j = 0; j < positions; ++j) m[j] = columns[j][i];
        Tiling::to_pixels(m, row, itself);
        for (int j = 0; j < pixels; ++j) {
          const std::int64_t x = (strip.first_tile + t) * pixels + j, to = x * conv.out + o;
          if (x >= block.y_width) break;
          float sum = row[j] + conv.bias[static_cast<std::size_t>(o)];
          if (strip.add[i] != nullptr) sum += strip.add[i][to];
          strip.y[i][to] = activated(conv.activation, sum);
        }
      }
    }
}

template <class Tiling>
constexpr TiledSteps k_steps{transform<Tiling>, multiply<Tiling>, finish<Tiling>};

}  // namespace

const TiledSteps& portable_tiled_steps(TiledKind kind) {
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

}  // namespace navtalk::kernels
