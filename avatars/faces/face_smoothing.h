// A detector's boxes jitter, drop out for single frames, and are sometimes wrong; a face does none
// of this. Within each stretch of a face in one place: dropouts of up to 0.4 s are bridged, wrong boxes
// replaced by what their neighbours say, the rest smoothed by a line through the neighbours with the weights of a
// Gaussian. The size is smoothed ten times as far as the place: heads nod within frames but come nearer within
// seconds, and a size that breathes is seen at once.
//
// A box stays near what was detected: within 1 % of the face's size, or where the detections around it jitter, within
// four times what they usually are off. So a face that moves fast, or through the clip's first and last frames, is
// followed.
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

// Boxes of landmarks, which are not square: the chin of one who speaks moves as fast as the head, so the height is smoothed as far as the
// place, the width as a size.
std::vector<std::optional<Box>> smooth_boxes(const std::vector<std::optional<Box>>& boxes,
                                             const FrameRate& fps);

}  // namespace navtalk
