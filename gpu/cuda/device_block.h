// Memory of the current device. One owner.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/cuda/launch_error.h"

namespace navtalk::cuda {

class DeviceBlock {
 public:
  explicit DeviceBlock(std::size_t bytes) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
  }
  ~DeviceBlock() { cudaFree(data_); }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

inline std::size_t free_device_memory() {
  std::size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  return available;
}

}  // namespace navtalk::cuda
