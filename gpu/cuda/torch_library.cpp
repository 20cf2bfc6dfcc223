#include "gpu/cuda/torch_library.h"

#include <dlfcn.h>

namespace navtalk::cuda {

// Found by this library's own run path: where libtorch_cpu.so is. It registers its operators with libtorch as it is loaded.
std::string load_torch() {
  if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  const char* why = ::dlerror();
  return std::string(
             "libtorch's part for GPUs cannot be loaded (scripts/libtorch --cuda fetches what it "
             "needs): ") +
         (why != nullptr ? why : "no reason given");
}

}  // namespace navtalk::cuda
