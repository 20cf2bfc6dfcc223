// Memory that kernels of a test read and write: the device's, or the host's where the emulation runs them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#ifndef NAVTALK_EMULATE_CUDA
#include <cuda_runtime_api.h>

#include "gpu/cuda/launch_error.h"
#endif

// First in a test case: the case is skipped where it needs a device and there is none.
#ifdef NAVTALK_EMULATE_CUDA
#define NAVTALK_NEEDS_DEVICE() static_cast<void>(0)
#else
#define NAVTALK_NEEDS_DEVICE()                \
  do {                                        \
    int devices = 0;                          \
    cudaGetDeviceCount(&devices);             \
    if (devices > 0) break;                   \
    WARN("skipped: there is no CUDA device"); \
    return;                                   \
  } while (false)
#endif

namespace navtalk::tests {

// `bytes` bytes behind `offset` others, so that the first may have an odd address; none behind the last.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes, std::size_t offset = 0)
      : bytes_(bytes), offset_(offset) {
#ifdef NAVTALK_EMULATE_CUDA
    base_ = new std::uint8_t[offset + bytes]();
#else
    void* base = nullptr;
    cuda::check(cudaMalloc(&base, std::max<std::size_t>(offset + bytes, 1)), "cudaMalloc");
    base_ = static_cast<std::uint8_t*>(base);
    cuda::check(cudaMemset(base_, 0, offset + bytes), "cudaMemset");
#endif
  }
  explicit DeviceMemory(const std::vector<std::uint8_t>& content, std::size_t offset = 0)
      : DeviceMemory(content.size(), offset) {
    put(content);
  }
  ~DeviceMemory() {
#ifdef NAVTALK_EMULATE_CUDA
    delete[] base_;
#else
    cudaFree(base_);
#endif
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_), offset_(other.offset_) {}

  std::uint8_t* data() const { return base_ + offset_; }

  void put(const std::vector<std::uint8_t>& content) {
#ifdef NAVTALK_EMULATE_CUDA
    std::copy(content.begin(), content.end(), data());
#else
    cuda::check(cudaMemcpy(data(), content.data(), content.size(), cudaMemcpyHostToDevice),
                "cudaMemcpy");
#endif
  }
  // Waits for every kernel before it.
  std::vector<std::uint8_t> get() const {
    std::vector<std::uint8_t> content(bytes_);
#ifdef NAVTALK_EMULATE_CUDA
    std::copy_n(data(), bytes_, content.begin());
#else
    cuda::check(cudaMemcpy(content.data(), data(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
#endif
    return content;
  }

 private:
  std::uint8_t* base_ = nullptr;
  std::size_t bytes_, offset_;
};

// The bytes of any values.
template <class Value>
std::vector<std::uint8_t> bytes_of(const std::vector<Value>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(Value)};
}

}  // namespace navtalk::tests
