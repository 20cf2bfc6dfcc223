#include "gpu/cuda/devices.h"

#include <cuda_runtime_api.h>

#include <array>

#include "gpu/cuda/launch_error.h"

namespace navtalk::cuda {
namespace {

std::string pci_bus_id(int index) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index) == cudaSuccess)
    return text.data();
  cudaGetLastError();
  return {};
}

}  // namespace

Devices devices() {
  Devices found;
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    cudaGetLastError();  // or the next launch would report it
    found.missing = std::string("there is no CUDA device: ") + cudaGetErrorString(result);
  } else if (count == 0) {
    found.missing = "there is no CUDA device";
  }
  for (int index = 0; result == cudaSuccess && index < count; ++index) {
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, index), "cudaGetDeviceProperties");
    found.list.push_back({.name = device.name,
                          .pci_bus_id = pci_bus_id(index),
                          .capability = device.major * 10 + device.minor,
                          .multiprocessors = device.multiProcessorCount,
                          .memory_bytes = device.totalGlobalMem,
                          .l2_bytes = static_cast<std::size_t>(device.l2CacheSize)});
  }
  return found;
}

MemoryUse memory_use(int index) {
  std::size_t available = 0, total = 0;
  int before = 0;  // of the calling thread
  const bool known = cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(index) == cudaSuccess &&
                     cudaMemGetInfo(&available, &total) == cudaSuccess;
  if (!known) cudaGetLastError();
  if (before != index) cudaSetDevice(before);
  if (!known) return {};
  return {.total = total, .used = total - available};
}

}  // namespace navtalk::cuda
