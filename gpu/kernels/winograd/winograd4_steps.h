// The three steps of Winograd's F(4x4, 3x3), one table per instruction set. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/winograd/winograd4_conv.h"

namespace navtalk::kernels {

constexpr int k_positions4 = 36;
constexpr std::int64_t k_group4 = 16;  // channels that lie together
constexpr std::int64_t k_part4 = 256;  // input channels of one sum
constexpr std::int64_t k_rows4 =
    6;  // tiles multiplied at once, or twice as many; a block's room is a multiple

// Tiles that are multiplied together, counted row by row and image by image.
struct TileBlock {
  const Winograd4Conv* conv = nullptr;
  std::int64_t width = 0;  // of the maps
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
  const float* rows[6] = {};
  // The result's rows from column 0 on, null below the map; and what is added to them, or null.
  float* y[4] = {};
  const float* add[4] = {};
};

struct Winograd4Steps {
  void (*transform)(const TileBlock& block, const TileStrip& strip);  // rows to inputs
  // Inputs to products, output channels [begin, end), which are multiples of k_group4.
  void (*multiply)(const TileBlock& block, std::int64_t begin, std::int64_t end);
  // Products to y, the same of them.
  void (*finish)(const TileBlock& block, const TileStrip& strip, std::int64_t begin,
                 std::int64_t end);
};

const Winograd4Steps& portable_winograd4_steps();
const Winograd4Steps& avx2_winograd4_steps();
const Winograd4Steps& avx512_winograd4_steps();

}  // namespace navtalk::kernels
