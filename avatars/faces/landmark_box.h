// MuseTalk's face box from landmarks: from the outermost points left and right to the chin and a margin below it,
// centred from top to bottom on the bridge of the nose.
#pragma once

#include <optional>
#include <vector>

#include "avatars/bundle/faces.h"
#include "core/tensor/image.h"
#include "gpu/model/pose_points.h"

namespace navtalk {

// MuseTalk's names, in pixels.
struct LandmarkBoxOptions {
  int bbox_shift = 0;     // of the bridge of the nose, downwards
  int extra_margin = 10;  // below the chin
};

// The face's part of the body's 133 points, in whole pixels as MuseTalk cuts them.
FacePoints face_points(const std::vector<PosePoint>& points);

// The points give a box of their own: one that is not empty and does not begin left of the picture.
bool gives_box(const FacePoints& points, const LandmarkBoxOptions& options);
// `points`: all 68. `detected`: the detector's face, which is taken where the points give no box. Inside the frame; nullopt when nothing
// of the box is.
std::optional<Box> landmark_box(const FacePoints& points, const Box& detected,
                                const LandmarkBoxOptions& options, int frame_width,
                                int frame_height);

// The face is seen from the side: the bridge of its nose lies at an end of its jaw's contour, or beyond. On a head as round as a
// cylinder, whose far side is taken for its outline, this is a turn of 70 degrees or more. A generated face, which looks ahead, would
// smear there. False for points that show no upright face.
bool is_profile(const FacePoints& points);

// `frames`: how many are left out for that.
void warn_of_profiles(std::size_t frames);

}  // namespace navtalk
