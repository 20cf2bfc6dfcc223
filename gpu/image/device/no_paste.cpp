// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/image/paste.h"
#include "gpu/image/scale.h"

namespace navtalk::cuda {

void paste_faces(std::span<const FacePaste>, int, int, Format, int, Stream) {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

void scale_frames(std::span<const FrameScale>, int, int, int, int, Stream) {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace navtalk::cuda
