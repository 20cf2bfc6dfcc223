#include "gpu/cuda/launch_error.h"

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/error.h"

namespace navtalk::cuda {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw Error(Code::failed, std::string(what) + ": " + cudaGetErrorString(result) + " (" +
                                cudaGetErrorName(result) + ")");
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace navtalk::cuda
