// The three steps of a Winograd convolution, one table per instruction set. Private to
// this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/conv/winograd_conv.h"

namespace navtalk::kernels {

// Tiles that lie side by side.
struct TileRun {
  WinogradKind kind = WinogradKind::same;
  std::int64_t in = 0, out = 0;  // channels
  const std::uint16_t* weights = nullptr;
  const float* bias = nullptr;
  // The patches' rows, each from column 0 of the map on; zeros where the map ends.
  const std::uint16_t* rows[4] = {};
  std::int64_t width = 0;                  // of the map that is read
  std::int64_t first_tile = 0, tiles = 0;  // counted from the left
  std::int64_t room = 0;                   // tiles that a position has room for, a multiple of 8
  std::uint16_t* inputs = nullptr;         // bf16 [position][in / 16][room][16]
  float* products = nullptr;               // [position][room][out]
  // The result's two rows from column 0 on, and what is added to them, or null.
  std::uint16_t* y[2] = {};
  const std::uint16_t* add[2] = {};
};

struct WinogradSteps {
  void (*transform)(const TileRun& run);  // rows to inputs
  void (*multiply)(const TileRun& run);   // inputs to products
  void (*finish)(const TileRun& run);     // products to y
};

const WinogradSteps& portable_winograd_steps();
const WinogradSteps& avx512_winograd_steps();

}  // namespace navtalk::kernels
