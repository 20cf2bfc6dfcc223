#include "gpu/cuda/page_locked.h"

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/error.h"

namespace navtalk::cuda {

std::shared_ptr<std::uint8_t> page_locked(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t result = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (result != cudaSuccess) {
    cudaGetLastError();  // or the next launch would report it
    throw Error(Code::failed, "no " + std::to_string(bytes >> 20) +
                                  " MiB of page-locked memory: " + cudaGetErrorString(result));
  }
  return {static_cast<std::uint8_t*>(memory), [](std::uint8_t* one) {
            if (cudaFreeHost(one) != cudaSuccess) cudaGetLastError();
          }};
}

}  // namespace navtalk::cuda
