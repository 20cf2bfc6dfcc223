// The three steps of a tiled convolution, one table per instruction set and kind. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/winograd/tiled_conv.h"

namespace navtalk::kernels {

constexpr std::int64_t k_group = 16;  // channels that lie together
constexpr std::int64_t k_part = 256;  // input channels of one sum
// Tiles that are multiplied at once, or twice as many; the room of a block is a multiple.
constexpr std::int64_t k_rows = 6;
constexpr int k_most_patch = 9, k_most_pixels = 4;  // rows of a patch and of a tile

// Tiles that are multiplied together, counted row by row and image by image.
struct TileBlock {
  const TiledConv* conv = nullptr;
  std::int64_t width = 0, y_width = 0;  // of the map and of the result
  std::int64_t first = 0, tiles = 0;
  std::int64_t room = 0;      // slots, one for each tile
  float* inputs = nullptr;    // [in / 16][position][room][16]
  float* products = nullptr;  // [output channels / 16][position][room][16], from channel `base` on
  std::int64_t base = 0;
};

// Those of them that lie side by side.
struct TileStrip {
  std::int64_t slot = 0;                   // of the first one in the block
  std::int64_t first_tile = 0, tiles = 0;  // counted from the map's left
  // The patches' rows, each from column 0 of the map on; zeros where the map ends.
  const float* rows[k_most_patch] = {};
  // The result's rows from column 0 on, null below it; and what is added to them, or null.
  float* y[k_most_pixels] = {};
  const float* add[k_most_pixels] = {};
};

struct TiledSteps {
  void (*transform)(const TileBlock& block, const TileStrip& strip);  // rows to inputs
  // Inputs to products, output channels [begin, end), which are multiples of k_group.
  void (*multiply)(const TileBlock& block, std::int64_t begin, std::int64_t end);
  // Products to y, the same of them.
  void (*finish)(const TileBlock& block, const TileStrip& strip, std::int64_t begin,
                 std::int64_t end);
};

const TiledSteps& portable_tiled_steps(TiledKind kind);
const TiledSteps& avx2_tiled_steps(TiledKind kind);
const TiledSteps& avx512_tiled_steps(TiledKind kind);

}  // namespace navtalk::kernels
