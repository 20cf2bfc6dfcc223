// From the scores of DWPose to points in the picture, as mmpose 1.1.0 computes them. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tensor/ndarray.h"
#include "gpu/image/warp.h"

namespace navtalk {

// The part of a picture that the net sees, larger than the picture and of the net's shape: centre and size in pixels.
struct PoseView {
  float centre_x = 0, centre_y = 0, width = 0, height = 0;
};
// Of a picture that shows one person.
PoseView pose_view(int picture_width, int picture_height);
// From the picture's pixels to those of the net's input.
Affine input_of_view(const PoseView& view);

// Scores of bins of half a pixel, one row a point.
struct PoseBins {
  NdArray<float> x, y;  // [133,576], [133,768]
};
// The mean of the scores of a picture and of the same picture mirrored. Left and right points change places, and the
// bins across run backwards.
PoseBins with_mirrored(PoseBins bins, const PoseBins& mirrored);
// The point on the other side of the body; itself in the middle.
std::size_t mirror_point(std::size_t point);

struct PosePoint {
  double x = 0, y = 0;  // in the picture's pixels; may lie outside
  float score = 0;      // of the weaker of the two bins; no probability
};
// The best bins, the first of equals. A point whose score is not positive lies at the bin -1. In double, and in the order
// of the reference: other orders change pixels.
std::vector<PosePoint> pose_points(const PoseBins& bins, const PoseView& view);

// The 68 points of the face: first the contour of the jaw from its left to its right in the picture.
inline constexpr std::size_t k_first_face_point = 23, k_face_points = 68;

}  // namespace navtalk
