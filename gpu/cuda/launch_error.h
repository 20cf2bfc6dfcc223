// Errors of CUDA as the product's own.
#pragma once

#include <driver_types.h>  // cudaError_t

namespace navtalk::cuda {

// OutOfMemory, DeviceLost or Error{failed} with `what` and CUDA's words, unless `result` is cudaSuccess.
void check(cudaError_t result, const char* what);

// The same when the launch of `kernel` just before was refused.
void check_launch(const char* kernel);

}  // namespace navtalk::cuda
