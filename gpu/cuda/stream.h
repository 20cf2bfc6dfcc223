// The order in which a device works: what is launched into one stream runs one after the other.
#pragma once

namespace navtalk::cuda {

// A cudaStream_t, so that callers need no header of CUDA; null is the default stream.
using Stream = void*;

}  // namespace navtalk::cuda
