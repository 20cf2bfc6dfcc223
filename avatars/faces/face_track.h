// Which of the faces seen in each frame is the avatar's. Detections that overlap from frame to
// frame form a track; the track with the largest total area is the avatar's, tracks that
// take over from it in other frames join it.
#pragma once

#include <optional>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

// Everything that a detector saw in one frame, in any order.
using Detections = std::vector<Box>;

// One entry a frame. Error{invalid} when there is no face at all, or when in a quarter or more of
// its frames a second face stands beside the first with at least 0.4 of its area.
std::vector<std::optional<Box>> follow_face(const std::vector<Detections>& frames,
                                            const FrameRate& fps);

// Area of the intersection over area of the union, 0 to 1.
double overlap(const Box& a, const Box& b);

}  // namespace navtalk
