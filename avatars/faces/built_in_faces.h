// The face finder that needs no model: by landmarks where dlib's shape predictor is installed, otherwise by cascades alone.
#pragma once

#include <memory>

#include "avatars/faces/cascade_track.h"
#include "avatars/faces/face_source.h"
#include "avatars/faces/landmark_box.h"

namespace navtalk {

std::shared_ptr<FaceSource> built_in_faces(const FollowOptions& follow = {},
                                           const LandmarkBoxOptions& box = {});

}  // namespace navtalk
