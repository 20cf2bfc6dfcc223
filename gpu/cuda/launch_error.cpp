#include "gpu/cuda/launch_error.h"

#include <cuda_runtime_api.h>

#include <string>

#include "gpu/cuda/device_failure.h"

namespace navtalk::cuda {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would report it
  throw_device_failure(result, std::string(what) + ": " + cudaGetErrorString(result) + " (" +
                                   cudaGetErrorName(result) + ")");
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace navtalk::cuda
