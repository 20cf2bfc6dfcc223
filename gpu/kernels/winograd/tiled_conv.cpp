#include "gpu/kernels/winograd/tiled_conv.h"

#include <algorithm>
#include <array>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/parallel.h"
#include "gpu/kernels/scratch.h"
#include "gpu/kernels/winograd/tiled_steps.h"
#include "gpu/kernels/winograd/tilings.h"

namespace navtalk::kernels {
namespace {

// What the blocks and strips of a tiling need to know of it.
struct Sizes {
  int taps, patch, positions, weights, pixels, step, before;
};
template <class Tiling>
constexpr Sizes k_sizes{.taps = Tiling::k_taps,
                        .patch = Tiling::k_patch,
                        .positions = k_order<Tiling>.k_positions,
                        .weights = k_order<Tiling>.k_weights,
                        .pixels = Tiling::k_pixels,
                        .step = Tiling::k_step,
                        .before = Tiling::k_before};

// Calls body(tiling) with that of a kind.
template <class Body>
auto with_tiling(TiledKind kind, const Body& body) {
  switch (kind) {
    case TiledKind::three:
      break;
    case TiledKind::three_halving:
      return body(FourOfThreeHalving{});
    case TiledKind::seven:
      return body(TwoOfSeven{});
  }
  return body(FourOfThree{});
}

const Sizes& sizes_of(TiledKind kind) {
  return *with_tiling(kind, []<class Tiling>(Tiling) { return &k_sizes<Tiling>; });
}

// The weights of all pairs of 16 outputs and one input; `w` [16][in][taps][taps], from that input on. `to` [weights][16].
template <class Tiling>
void group_weights(const float* w, std::int64_t in, float (*to)[k_group]) {
  constexpr int taps = Tiling::k_taps, count = Tiling::k_weights;
  constexpr auto& g = Tiling::k_g;
  const std::int64_t next = in * taps * taps;
  float rows[count][taps][k_group];
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t j = 0; j < taps; ++j)
      for (std::int64_t o = 0; o < k_group; ++o) {
        float sum = 0;
        for (std::size_t i = 0; i < taps; ++i)
          sum += g[p][i] * w[o * next + static_cast<std::int64_t>(i * taps + j)];
        rows[p][j][o] = sum;
      }
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t q = 0; q < count; ++q)
      for (std::int64_t o = 0; o < k_group; ++o) {
        float sum = 0;
        for (std::size_t j = 0; j < taps; ++j) sum += g[q][j] * rows[p][j][o];
        to[p * count + q][o] = sum;
      }
}

// Those of all pairs, as TiledConv keeps them.
template <class Tiling>
void pack(const float* weight, std::int64_t in, std::int64_t out, std::vector<float>& to) {
  constexpr int count = k_order<Tiling>.k_weights;
  parallel_for(in, count * out, [&](std::int64_t begin, std::int64_t end) {
    float group[count][k_group];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i / k_part * k_part, depth = std::min(k_part, in - first);
      for (std::int64_t o = 0; o < out; o += k_group) {
        group_weights<Tiling>(weight + (o * in + i) * Tiling::k_taps * Tiling::k_taps, in, group);
        for (std::int64_t w = 0; w < count; ++w)
          std::copy_n(
              group[w], k_group,
              to.data() + first * count * out + (w * out + o) * depth + (i - first) * k_group);
      }
    }
  });
}

// More weights than stay in a core's second cache.
bool heavy(const TiledConv& conv) { return conv.weights.size() > 36 * 128 * 128; }

// The most tiles that are multiplied together: many where the weights are many, so that each is used often while it is in a near
// cache; few where the tiles' own numbers would not stay in the second cache.
std::int64_t most_at_once(const TiledConv& conv) {
  const std::int64_t positions = (heavy(conv) ? 136 : 24) * 36;
  const std::int64_t groups = positions / sizes_of(conv.kind).positions / k_rows;
  return std::max<std::int64_t>(groups, 1) * k_rows;
}

// The same of `tiles`, so that no few are left over, for which all weights would pass by once more.
std::int64_t tiles_at_once(const TiledConv& conv, std::int64_t tiles) {
  const std::int64_t most = most_at_once(conv), blocks = (tiles + most - 1) / most;
  return ((tiles + blocks - 1) / blocks + k_rows - 1) / k_rows * k_rows;
}

// Output channels that are multiplied and finished together: few where the tiles' own numbers stay in the second cache, so that
// the products do so too.
std::int64_t outputs_at_once(const TiledConv& conv) { return heavy(conv) ? conv.out : k_group; }

// Memory for a block of so many tiles, of the calling thread.
TileBlock make_block(const TiledConv& conv, const TiledMaps& maps, std::int64_t room) {
  TileBlock block{
      .conv = &conv, .width = maps.width, .y_width = conv.size_for(maps.width), .room = room};
  const std::int64_t numbers = sizes_of(conv.kind).positions * room;
  block.inputs = scratch<float, 0>(static_cast<std::size_t>(numbers * conv.in));
  block.products = scratch<float, 1>(static_cast<std::size_t>(numbers * outputs_at_once(conv)));
  return block;
}

const TiledSteps& steps_of(TiledKind kind, Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return avx512_tiled_steps(kind);
    case Isa::avx2:
      return avx2_tiled_steps(kind);
    case Isa::portable:
      break;
  }
  return portable_tiled_steps(kind);
}

std::int64_t across(const TiledConv& conv, std::int64_t n) {
  const std::int64_t pixels = sizes_of(conv.kind).pixels;
  return (conv.size_for(n) + pixels - 1) / pixels;
}

// The steps of one thread in a block.
class Tiles {
 public:
  Tiles(const TiledMaps& maps, Isa isa, const TileBlock& block)
      : block_(block),
        maps_(maps),
        rows_({.x = maps.x,
               .height = maps.height,
               .width = maps.width,
               .channels = block.conv->in,
               .scale = maps.scale,
               .shift = maps.shift},
              isa),
        sizes_(sizes_of(block.conv->kind)),
        steps_(steps_of(block.conv->kind, isa)) {}

  // Slots [begin, end) of the block.
  void transform(std::int64_t begin, std::int64_t end) {
    each_strip(begin, end, [&](std::int64_t image, std::int64_t r, TileStrip& strip) {
      for (int i = 0; i < sizes_.patch; ++i)
        strip.rows[i] = rows_(image, sizes_.step * r - sizes_.before + i);
      steps_.transform(block_, strip);
    });
  }

  // Of output channels [from, to).
  void finish(std::int64_t begin, std::int64_t end, std::int64_t from, std::int64_t to) const {
    each_strip(begin, end, [&](std::int64_t image, std::int64_t r, TileStrip& strip) {
      place_results(image, r, strip);
      steps_.finish(block_, strip, from, to);
    });
  }

 private:
  // body(image, row of tiles, strip) for slots [begin, end), those of each row together.
  template <class Body>
  void each_strip(std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::int64_t right = across(*block_.conv, maps_.width);
    const std::int64_t down = across(*block_.conv, maps_.height);
    for (std::int64_t slot = begin; slot < end;) {
      const std::int64_t line = (block_.first + slot) / right;
      TileStrip strip{.slot = slot, .first_tile = (block_.first + slot) % right};
      strip.tiles = std::min(right - strip.first_tile, end - slot);
      body(line / down, line % down, strip);
      slot += strip.tiles;
    }
  }

  void place_results(std::int64_t image, std::int64_t r, TileStrip& strip) const {
    const TiledConv& conv = *block_.conv;
    const std::int64_t height = conv.size_for(maps_.height), first = sizes_.pixels * r;
    for (int i = 0; i < sizes_.pixels && first + i < height; ++i) {
      const std::int64_t at = (image * height + first + i) * block_.y_width * conv.out;
      strip.y[i] = maps_.y + at;
      strip.add[i] = maps_.add != nullptr ? maps_.add + at : nullptr;
    }
  }

  const TileBlock& block_;
  const TiledMaps& maps_;
  ActivatedRows<float> rows_;
  const Sizes& sizes_;
  const TiledSteps& steps_;
};

// All tiles are one block: threads divide its output channels, so that each reads its part of the weights once.
void convolve_together(TileBlock block, const TiledMaps& maps, std::int64_t tiles, Isa isa) {
  const std::int64_t in = block.conv->in, out = block.conv->out;
  const std::int64_t positions = sizes_of(block.conv->kind).positions;
  block.tiles = tiles;
  parallel_for(tiles, positions * in, [&](std::int64_t begin, std::int64_t end) {
    Tiles(maps, isa, block).transform(begin, end);
  });
  parallel_for(out / k_group, positions * in * tiles, [&](std::int64_t begin, std::int64_t end) {
    steps_of(block.conv->kind, isa).multiply(block, begin * k_group, end * k_group);
  });
  parallel_for(tiles, positions * out, [&](std::int64_t begin, std::int64_t end) {
    Tiles(maps, isa, block).finish(begin, end, 0, out);
  });
}

// Threads divide the tiles. Each goes through its own block by block.
void convolve_apart(const TiledConv& conv, const TiledMaps& maps, std::int64_t tiles, Isa isa) {
  // Whole groups of rows of the multiplication for each thread.
  const std::int64_t groups = (tiles + k_rows - 1) / k_rows;
  parallel_for(groups, k_rows * 16 * conv.in, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = std::min(end * k_rows, tiles), at_once = outputs_at_once(conv);
    TileBlock block = make_block(conv, maps, tiles_at_once(conv, last - begin * k_rows));
    Tiles mine(maps, isa, block);
    for (block.first = begin * k_rows; block.first < last; block.first += block.room) {
      block.tiles = std::min(block.room, last - block.first);
      mine.transform(0, block.tiles);
      for (block.base = 0; block.base < conv.out; block.base += at_once) {
        steps_of(conv.kind, isa).multiply(block, block.base, block.base + at_once);
        mine.finish(0, block.tiles, block.base, block.base + at_once);
      }
    }
  });
}

}  // namespace

TiledConv::TiledConv(TiledKind of_kind, const float* weight, const float* of_bias,
                     std::int64_t inputs, std::int64_t outputs, Activation after)
    : kind(of_kind),
      in(inputs),
      out(outputs),
      activation(after),
      weights(static_cast<std::size_t>(sizes_of(of_kind).weights * inputs * outputs)),
      bias(of_bias, of_bias + outputs) {
  with_tiling(kind, [&]<class Tiling>(Tiling) { pack<Tiling>(weight, in, out, weights); });
}

std::int64_t TiledConv::tiles(TiledKind kind, std::int64_t height, std::int64_t width) {
  const Sizes& sizes = sizes_of(kind);
  return (height + sizes.step - 1) / sizes.step * ((width + sizes.step - 1) / sizes.step);
}

void tiled_conv(const TiledConv& conv, const TiledMaps& maps, Isa isa) {
  const std::int64_t tiles = maps.images * TiledConv::tiles(conv.kind, maps.height, maps.width);
  if (heavy(conv) && tiles <= most_at_once(conv))
    return convolve_together(make_block(conv, maps, tiles_at_once(conv, tiles)), maps, tiles, isa);
  convolve_apart(conv, maps, tiles, isa);
}

}  // namespace navtalk::kernels
