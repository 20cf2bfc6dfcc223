// What the benches draw: a face of 432 pixels in the middle of a 720p frame, with the mask that MuseTalk would give it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/ndarray.h"
#include "gpu/image/compose.h"
#include "gpu/model/placed_frame.h"

namespace navtalk::bench_face {

inline constexpr int k_width = 1280, k_height = 720, k_side = 432, k_square = 648;
inline constexpr Placement k_placement{.box = {424, 144, 424 + k_side, 144 + k_side},
                                       .crop_box = {316, 36, 316 + k_square, 36 + k_square}};
inline constexpr Box k_mask_region{0, k_square / 2, k_square, k_square};

// Even noise in [-1,1), the same every time: no stage's time depends on what the numbers say, as long as they are not all zero.
NdArray<float> noise(const Shape& shape);

// Frame `index` of an avatar, which the caller holds.
PlacedFrame placed_frame(const std::shared_ptr<const void>& avatar, std::int64_t index);

}  // namespace navtalk::bench_face
