// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/kernels/device/group_norm.h"

namespace navtalk::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace

std::size_t group_norm_workspace_bytes(const GroupNorm&) { refuse(); }
void group_norm(const GroupNorm&, void*, Stream) { refuse(); }

}  // namespace navtalk::cuda
