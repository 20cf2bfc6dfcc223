#include "avatars/faces/built_in_faces.h"

#include "avatars/faces/cascade_faces.h"
#include "avatars/faces/shape_faces.h"

namespace navtalk {

std::shared_ptr<FaceSource> built_in_faces(const FollowOptions& follow,
                                           const LandmarkBoxOptions& box) {
  if (const auto predictor = installed_shape_predictor())
    return std::make_shared<ShapeFaces>(*predictor, follow, box);
  return std::make_shared<CascadeFaces>(follow);
}

}  // namespace navtalk
