// For programs without OpenCV, which find no faces.
#include "core/base/error.h"
#include "gpu/image/warp.h"

namespace navtalk {

Image warp_affine(ConstImageView, const Affine&, int, int) {
  throw Error(Code::failed, "pictures are turned with OpenCV, which is not in this program");
}

}  // namespace navtalk
