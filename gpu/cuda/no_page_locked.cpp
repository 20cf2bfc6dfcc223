// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/cuda/page_locked.h"

namespace navtalk::cuda {

std::shared_ptr<std::uint8_t> page_locked(std::size_t) {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace navtalk::cuda
