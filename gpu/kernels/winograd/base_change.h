// Winograd's changes of base over vectors of any width. Only for the steps of one instruction set each: all of it has
// internal linkage, as in avx512.h. `V` is a vector with + and -.
#pragma once

#include "gpu/kernels/winograd/winograd_conv.h"

namespace navtalk::kernels {
namespace {

// Lines of a patch (same: four, doubled: three) or of products, and back.
template <WinogradKind kind>
constexpr int k_side = kind == WinogradKind::same ? 4 : 3;

template <WinogradKind kind, class V>
inline void to_positions(const V* d, V* v) {
  v[0] = d[0] - (kind == WinogradKind::same ? d[2] : d[1]);
  if (kind == WinogradKind::same) {
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[1] - d[3];
  } else {
    v[1] = d[1];
    v[2] = d[2] - d[1];
  }
}

template <WinogradKind kind, class V>
inline void to_pixels(const V* m, V* y) {
  if (kind == WinogradKind::same) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  } else {
    y[0] = m[0] + m[1];
    y[1] = m[1] + m[2];
  }
}

}  // namespace
}  // namespace navtalk::kernels
