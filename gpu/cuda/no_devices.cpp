// For builds without CUDA.
#include "gpu/cuda/devices.h"

namespace navtalk::cuda {

Devices devices() { return {{}, "this navtalk was built without CUDA (preset cuda)", false}; }
MemoryUse memory_use(int) { return {}; }

}  // namespace navtalk::cuda
