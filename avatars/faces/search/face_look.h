// What a face looks like, in so few numbers that a clip's faces can be compared with each other: how its lightness and its two colours
// (CIE Lab) are distributed, after an exposure that makes its mean grey the same. It tells people of one clip apart by skin, hair,
// beard and glasses, not those of any two pictures: light and camera change it as much.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/tensor/image.h"

namespace navtalk {

// Square roots of the shares of 16 bins each, in 255ths. All zero: unknown.
using FaceLook = std::array<std::uint8_t, 48>;

// `picture`: [H,W,3] BGR. Unknown where the box is outside.
FaceLook look_of(const ConstImageView& picture, const Box& face);

// 0: the same, 1: nothing in common (the mean of the three Hellinger distances, as a root mean square). 0 where either is unknown.
double look_distance(const FaceLook& a, const FaceLook& b);

}  // namespace navtalk
