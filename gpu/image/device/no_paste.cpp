// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/image/paste.h"

namespace navtalk::cuda {

void paste_faces(std::span<const FacePaste>, int, int, Format, int, const std::optional<Unsharp>&,
                 Stream) {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace navtalk::cuda
