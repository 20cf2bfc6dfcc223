#include "gpu/kernels/winograd/winograd4_conv.h"

#include <algorithm>
#include <array>

#include "gpu/kernels/activated_rows.h"
#include "gpu/kernels/parallel.h"
#include "gpu/kernels/scratch.h"
#include "gpu/kernels/winograd/base_change4.h"
#include "gpu/kernels/winograd/winograd4_steps.h"

namespace navtalk::kernels {
namespace {

// G: a row or column of three weights to six positions. Point p has 1/N(p) (1, p, p^2), where N(p) is the product of its
// distances to the other points.
constexpr std::array<std::array<float, 3>, 6> base_of_weights() {
  constexpr double a = k_a, b = k_b, points[] = {0, a, -a, b, -b};
  std::array<std::array<float, 3>, 6> g{};
  for (std::size_t i = 0; i < 5; ++i) {
    double n = 1;
    for (std::size_t j = 0; j < 5; ++j)
      if (j != i) n *= points[i] - points[j];
    g[i] = {static_cast<float>(1 / n), static_cast<float>(points[i] / n),
            static_cast<float>(points[i] * points[i] / n)};
  }
  g[5] = {0, 0, 1};
  return g;
}

// The 36 weights of 16 outputs of one input; `w` [16][in][3][3], from that input on.
void group_weights(const float* w, std::int64_t in, float (&to)[k_positions4][k_group4]) {
  static constexpr std::array<std::array<float, 3>, 6> k_g = base_of_weights();
  float rows[6][3][k_group4];
  for (std::size_t p = 0; p < 6; ++p)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t o = 0; o < k_group4; ++o) {
        const float* kernel = w + o * in * 9 + j;
        rows[p][j][o] = k_g[p][0] * kernel[0] + k_g[p][1] * kernel[3] + k_g[p][2] * kernel[6];
      }
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < 6; ++q)
      for (std::int64_t o = 0; o < k_group4; ++o)
        to[p * 6 + q][o] =
            k_g[q][0] * rows[p][0][o] + k_g[q][1] * rows[p][1][o] + k_g[q][2] * rows[p][2][o];
}

// More weights than stay in a core's second cache.
bool heavy(const Winograd4Conv& conv) { return conv.in * conv.out > 128 * 128; }

// Tiles that are multiplied together: many where the weights are many, so that each is used often while it is in a near
// cache; few where the tiles' own numbers would not stay in the second cache.
std::int64_t tiles_at_once(const Winograd4Conv& conv) { return (heavy(conv) ? 16 : 4) * k_rows4; }

// Output channels that are multiplied and finished together: few where the tiles' own numbers stay in the second cache, so that
// the products do so too.
std::int64_t outputs_at_once(const Winograd4Conv& conv) {
  return heavy(conv) ? conv.out : k_group4;
}

// Memory for a block of tiles, of the calling thread.
TileBlock make_block(const Winograd4Conv& conv, const Winograd4Maps& maps) {
  TileBlock block{.conv = &conv, .width = maps.width, .room = tiles_at_once(conv)};
  const std::int64_t tiles = k_positions4 * block.room;
  block.inputs = scratch<float, 0>(static_cast<std::size_t>(tiles * conv.in));
  block.products = scratch<float, 1>(static_cast<std::size_t>(tiles * conv.out));
  return block;
}

const Winograd4Steps& steps_of(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return avx512_winograd4_steps();
    case Isa::avx2:
      return avx2_winograd4_steps();
    case Isa::portable:
      break;
  }
  return portable_winograd4_steps();
}

// The steps of one thread in a block.
class Tiles {
 public:
  Tiles(const Winograd4Maps& maps, Isa isa, const TileBlock& block)
      : block_(block),
        maps_(maps),
        rows_({.x = maps.x,
               .height = maps.height,
               .width = maps.width,
               .channels = block.conv->in,
               .scale = maps.scale,
               .shift = maps.shift},
              isa),
        steps_(steps_of(isa)) {}

  // Slots [begin, end) of the block.
  void transform(std::int64_t begin, std::int64_t end) {
    each_strip(begin, end, [&](std::int64_t image, std::int64_t r, TileStrip& strip) {
      for (int i = 0; i < 6; ++i) strip.rows[i] = rows_(image, 4 * r - 1 + i);
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
    const std::int64_t across = (maps_.width + 3) / 4, down = (maps_.height + 3) / 4;
    for (std::int64_t slot = begin; slot < end;) {
      const std::int64_t line = (block_.first + slot) / across;
      TileStrip strip{.slot = slot, .first_tile = (block_.first + slot) % across};
      strip.tiles = std::min(across - strip.first_tile, end - slot);
      body(line / down, line % down, strip);
      slot += strip.tiles;
    }
  }

  void place_results(std::int64_t image, std::int64_t r, TileStrip& strip) const {
    for (int i = 0; i < 4 && 4 * r + i < maps_.height; ++i) {
      const std::int64_t at = (image * maps_.height + 4 * r + i) * maps_.width * block_.conv->out;
      strip.y[i] = maps_.y + at;
      strip.add[i] = maps_.add != nullptr ? maps_.add + at : nullptr;
    }
  }

  const TileBlock& block_;
  const Winograd4Maps& maps_;
  ActivatedRows<float> rows_;
  const Winograd4Steps& steps_;
};

// All tiles are one block: threads divide its output channels, so that each reads its part of the weights once.
void convolve_together(TileBlock block, const Winograd4Maps& maps, std::int64_t tiles, Isa isa) {
  const std::int64_t in = block.conv->in, out = block.conv->out;
  block.tiles = tiles;
  parallel_for(tiles, 36 * in, [&](std::int64_t begin, std::int64_t end) {
    Tiles(maps, isa, block).transform(begin, end);
  });
  parallel_for(out / k_group4, 36 * in * tiles, [&](std::int64_t begin, std::int64_t end) {
    steps_of(isa).multiply(block, begin * k_group4, end * k_group4);
  });
  parallel_for(tiles, 36 * out, [&](std::int64_t begin, std::int64_t end) {
    Tiles(maps, isa, block).finish(begin, end, 0, out);
  });
}

// Threads divide the tiles. Each goes through its own block by block.
void convolve_apart(const Winograd4Conv& conv, const Winograd4Maps& maps, std::int64_t tiles,
                    Isa isa) {
  // Whole groups of rows of the multiplication for each thread.
  const std::int64_t groups = (tiles + k_rows4 - 1) / k_rows4;
  parallel_for(groups, k_rows4 * 16 * conv.in, [&](std::int64_t begin, std::int64_t end) {
    TileBlock block = make_block(conv, maps);
    Tiles mine(maps, isa, block);
    const std::int64_t last = std::min(end * k_rows4, tiles), at_once = outputs_at_once(conv);
    for (block.first = begin * k_rows4; block.first < last; block.first += block.room) {
      block.tiles = std::min(block.room, last - block.first);
      mine.transform(0, block.tiles);
      for (block.base = 0; block.base < conv.out; block.base += at_once) {
        steps_of(isa).multiply(block, block.base, block.base + at_once);
        mine.finish(0, block.tiles, block.base, block.base + at_once);
      }
    }
  });
}

}  // namespace

Winograd4Conv::Winograd4Conv(const float* weight, const float* of_bias, std::int64_t inputs,
                             std::int64_t outputs, Activation after)
    : in(inputs),
      out(outputs),
      activation(after),
      weights(static_cast<std::size_t>(k_positions4 * inputs * outputs)),
      bias(of_bias, of_bias + outputs) {
  parallel_for(in, k_positions4 * out, [&](std::int64_t begin, std::int64_t end) {
    float positions[k_positions4][k_group4];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i / k_part4 * k_part4, depth = std::min(k_part4, in - first);
      for (std::int64_t o = 0; o < out; o += k_group4) {
        group_weights(weight + (o * in + i) * 9, in, positions);
        for (std::int64_t p = 0; p < k_positions4; ++p)
          std::copy_n(positions[p], k_group4,
                      weights.data() + first * k_positions4 * out + (p * out + o) * depth +
                          (i - first) * k_group4);
      }
    }
  });
}

void winograd4_conv(const Winograd4Conv& conv, const Winograd4Maps& maps, Isa isa) {
  const std::int64_t tiles = maps.images * ((maps.height + 3) / 4) * ((maps.width + 3) / 4);
  if (heavy(conv) && tiles <= tiles_at_once(conv))
    return convolve_together(make_block(conv, maps), maps, tiles, isa);
  convolve_apart(conv, maps, tiles, isa);
}

}  // namespace navtalk::kernels
