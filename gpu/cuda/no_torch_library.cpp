// For builds without CUDA.
#include "gpu/cuda/devices.h"
#include "gpu/cuda/torch_library.h"

namespace navtalk::cuda {

std::string load_torch() { return devices().missing; }

}  // namespace navtalk::cuda
