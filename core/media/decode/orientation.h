// How a stored picture must be turned to stand upright: a container's display matrix, reduced to
// transposing and flipping. Private to core/media.
#pragma once

#include <cstdint>

#include "core/tensor/image.h"

namespace navtalk::media {

// The upright picture is the stored one transposed (if so), then flipped.
struct Orientation {
  bool transpose = false, flip_x = false, flip_y = false;
  bool operator==(const Orientation&) const = default;
};

// `matrix`: nine 16.16 numbers as in AV_PKT_DATA_DISPLAYMATRIX ([a b u; c d v; x y w], stored point
// (p,q) shown at (a p + c q, b p + d q)), or null for none. Angles are taken to the nearest quarter
// turn.
Orientation orientation(const std::int32_t* matrix);

Image upright(const Image& stored, const Orientation& orientation);

}  // namespace navtalk::media
