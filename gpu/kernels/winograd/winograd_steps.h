// The three steps of a Winograd convolution, one table per instruction set and format. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/winograd/winograd_conv.h"

namespace navtalk::kernels {

// Tiles that lie side by side, of maps of float, or of std::uint16_t for bf16.
template <class T>
struct TileRun {
  WinogradKind kind = WinogradKind::same;
  std::int64_t in = 0, out = 0;  // channels
  const T* weights = nullptr;
  const float* bias = nullptr;
  // The patches' rows, each from column 0 of the map on; zeros where the map ends.
  const T* rows[4] = {};
  std::int64_t width = 0;                  // of the map that is read
  std::int64_t first_tile = 0, tiles = 0;  // counted from the left
  std::int64_t room = 0;  // tiles that a position has room for, a multiple of 8 (bf16) or 6 (fp32)
  T* inputs = nullptr;    // [position][in / 16][room][16]
  float* products = nullptr;  // [position][room][out]
  // The result's two rows from column 0 on, and what is added to them, or null.
  T* y[2] = {};
  const T* add[2] = {};
};

template <class T>
struct WinogradSteps {
  void (*transform)(const TileRun<T>& run);  // rows to inputs
  void (*multiply)(const TileRun<T>& run);   // inputs to products
  void (*finish)(const TileRun<T>& run);     // products to y
};

template <class T>
const WinogradSteps<T>& portable_winograd_steps();  // float and std::uint16_t
const WinogradSteps<float>& avx2_winograd_steps();  // WinogradKind::doubled
const WinogradSteps<std::uint16_t>& avx512_winograd_steps();

}  // namespace navtalk::kernels
