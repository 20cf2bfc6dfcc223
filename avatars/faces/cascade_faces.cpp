#include "avatars/faces/cascade_faces.h"

#include <algorithm>
#include <cmath>

#include "avatars/faces/face_smoothing.h"

namespace navtalk {
namespace {

constexpr int k_chin_margin = 10;  // MuseTalk's extra_margin

// MuseTalk's box runs from temple to temple, is centred on the bridge of the nose and ends a margin
// below the chin. A cascade's square says where these are only roughly: on three portraits (one
// photographed, one drawn, one rendered) the chin lies at 1.15, 1.03 and 1.08 of its side.
Box box_of_square(const FaceSquare& face, const Clip& clip) {
  const double left = face.centre_x - face.size / 2, top = face.centre_y - face.size / 2;
  const int width = static_cast<int>(std::lround(0.92 * face.size));
  const int height = static_cast<int>(std::lround(1.17 * face.size));
  const int x = static_cast<int>(std::lround(left + 0.04 * face.size));
  const int y = static_cast<int>(std::lround(top - 0.06 * face.size));
  return {std::max(0, x), std::max(0, y), std::min(clip.width(), x + width),
          std::min(clip.height(), y + height + k_chin_margin)};
}

}  // namespace

FaceBoxes CascadeFaces::find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                             const Progress& progress, const std::stop_token& stop) {
  const FollowedFace followed =
      follow_by_cascades(clip, fps, options_.face, directories_, notes, progress, stop);
  FaceBoxes boxes;
  for (const auto& face :
       options_.smooth ? smooth_faces(followed.boxes, fps) : bridged_faces(followed.boxes, fps)) {
    std::optional<Box> box;
    if (face) box = box_of_square(*face, clip);
    if (box && is_anothers(followed, boxes.size(), *box)) box.reset();
    boxes.push_back(box);
  }
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
