// Which of the faces seen in each frame is the avatar's. Detections that overlap from frame to
// frame form a track; tracks that take over from each other, in other frames and near where the face was last
// seen, are one person's, who left and came back. People are numbered by their total area, the largest is 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

// Everything that a detector saw in one frame, in any order.
using Detections = std::vector<Box>;

struct FollowedFace {
  std::vector<std::optional<Box>> boxes;  // one entry a frame
  // The faces of comparable size that are there in a quarter or more of the largest one's frames, by number and
  // place, where there is more than one; for people. Empty: there is one.
  std::string others{};
};

// `number`: from 1. Error{invalid} when there is no face at all, or none of that number.
FollowedFace follow_face(const std::vector<Detections>& frames, const FrameRate& fps,
                         int number = 1);

// For people who did not say which face they want.
void warn_of_others(const FollowedFace& followed);

// Area of the intersection over area of the union, 0 to 1.
double overlap(const Box& a, const Box& b);

}  // namespace navtalk
