// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/kernels/device/group_norm.h"
#include "gpu/kernels/device/row_ops.h"

namespace navtalk::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace

std::size_t group_norm_workspace_bytes(const GroupNorm&) { refuse(); }
void group_norm(const GroupNorm&, void*, Stream) { refuse(); }
void add_to_rows(const Rows&, const void*, const void*, const float*, void*, Stream) { refuse(); }
void geglu(const Rows&, const void*, void*, Stream) { refuse(); }
void layer_norm(const Rows&, const LayerNorm&, Stream) { refuse(); }
void interleave_phases(const Phases&, const void*, const float*, void*, Stream) { refuse(); }

}  // namespace navtalk::cuda
