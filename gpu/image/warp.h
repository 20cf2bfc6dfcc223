// Affine maps of pictures, by OpenCV itself: its fixed-point weights are part of the result.
#pragma once

#include <array>

#include "core/tensor/image.h"

namespace navtalk {

// Rows of a 2x3 matrix that takes a pixel of the source to one of the result.
using Affine = std::array<double, 6>;

// cv::warpAffine, bilinear, black outside of `source`: 8 bits, of 1 to 4 channels, not empty.
Image warp_affine(ConstImageView source, const Affine& map, int width, int height);

}  // namespace navtalk
