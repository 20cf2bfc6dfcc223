// A detector's boxes jitter, drop out for single frames, and are sometimes wrong; a face does none
// of this. Within each stretch of a face in one place: dropouts of up to 0.4 s are bridged, wrong boxes
// replaced by what their neighbours say, the rest smoothed by parabolas through the neighbours with the weights of a
// Gaussian. In each frame that is the widest one that does not contradict the narrower ones by more than the
// detections jitter, in their high frequencies: a face at rest is smoothed far, one that moves is followed. The size
// is smoothed up to five times as far as the place: a size that breathes is seen at once.
//
// So a smoothed value is within 0.5 % of the face's size of what was detected, and three times the standard deviation
// of the detections' jitter there, through fast movements and the clip's first and last frames as well. Stretches of
// up to six frames stay as detected.
#pragma once

#include <optional>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

struct FaceSquare {
  double centre_x = 0, centre_y = 0, size = 0;
};

// `squares`: one detection a frame, about as wide as high. Gaps longer than 0.4 s stay gaps, and a
// jump (a cut in the film) stays a jump.
std::vector<std::optional<FaceSquare>> smooth_faces(const std::vector<std::optional<Box>>& squares,
                                                    const FrameRate& fps);

// Only the dropouts are bridged.
std::vector<std::optional<FaceSquare>> bridged_faces(const std::vector<std::optional<Box>>& squares,
                                                     const FrameRate& fps);

// Boxes of landmarks, which are not square: the chin of one who speaks moves as fast as the head, so the height is smoothed at most as far
// as the place, the width as a size.
std::vector<std::optional<Box>> smooth_boxes(const std::vector<std::optional<Box>>& boxes,
                                             const FrameRate& fps);

}  // namespace navtalk
