// The emulation finds what a device would punish, so that a kernel's test means something.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "gpu/cuda/kernel.h"

namespace {

__global__ void sums_of_warps(const int* values, int* sums) {
  int sum = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffU, sum, by);
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

__global__ void reversed(const int* values, int* out) {
  NAVTALK_DYNAMIC_SHARED(int, shared);
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

// The first warp shuffles before the barrier, the second does not.
__global__ void sum_of_one_warp(int* out) {
  __shared__ int sum;
  if (threadIdx.x < 32) {
    int value = static_cast<int>(threadIdx.x);
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffffU, value, by);
    if (threadIdx.x == 0) sum = value;
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void barrier_for_some() {
  if (threadIdx.x < 3) __syncthreads();
}

__global__ void shuffle_beside_barrier() {
  if (threadIdx.x == 5) {
    __syncthreads();
    return;
  }
  static_cast<void>(__shfl_xor_sync(0xffffffffU, 1, 1));
  __syncthreads();
}

__global__ void shuffle_without_all() {
  if (threadIdx.x == 5) return;
  static_cast<void>(__shfl_xor_sync(0xffffffffU, 1, 1));
}

}  // namespace

TEST_CASE("shuffles and shared memory mean what they mean on a device") {
  std::vector<int> values(128), sums(4), out(128);
  for (int i = 0; i < 128; ++i) values[static_cast<std::size_t>(i)] = i;
  NAVTALK_LAUNCH(sums_of_warps, dim3(2), dim3(64), 0, nullptr, values.data(), sums.data());
  for (int warp = 0; warp < 4; ++warp)
    CHECK(sums[static_cast<std::size_t>(warp)] == 32 * (32 * warp) + 496);
  NAVTALK_LAUNCH(reversed, dim3(1), dim3(128), 128 * sizeof(int), nullptr, values.data(),
                 out.data());
  for (int i = 0; i < 128; ++i) CHECK(out[static_cast<std::size_t>(i)] == 127 - i);
}

TEST_CASE("a warp waits at a barrier while another one shuffles") {
  std::vector<int> out(64);
  NAVTALK_LAUNCH(sum_of_one_warp, dim3(1), dim3(64), 0, nullptr, out.data());
  CHECK(out == std::vector<int>(64, 496));
}

TEST_CASE(
    "a barrier that some threads miss, and a shuffle whose mask names an ended thread, are "
    "errors") {
  CHECK_THROWS_AS(NAVTALK_LAUNCH(barrier_for_some, dim3(1), dim3(8), 0, nullptr), std::logic_error);
  CHECK_THROWS_AS(NAVTALK_LAUNCH(shuffle_beside_barrier, dim3(1), dim3(32), 0, nullptr),
                  std::logic_error);
  CHECK_THROWS_AS(NAVTALK_LAUNCH(shuffle_without_all, dim3(1), dim3(32), 0, nullptr),
                  std::logic_error);
}

TEST_CASE("a launch beyond the device's limits is an error") {
  CHECK_THROWS_AS(NAVTALK_LAUNCH(barrier_for_some, dim3(1), dim3(2048), 0, nullptr),
                  std::logic_error);
  CHECK_THROWS_AS(NAVTALK_LAUNCH(barrier_for_some, dim3(1, 70000), dim3(8), 0, nullptr),
                  std::logic_error);
  CHECK_THROWS_AS(NAVTALK_LAUNCH(barrier_for_some, dim3(1), dim3(8), 300 << 10, nullptr),
                  std::logic_error);
}
