// What every kernel source (.cu) includes: CUDA where nvcc compiles it, tests/gpu/cuda/emulation where a C++ compiler compiles
// the same source for the tests without a GPU. Kernels take pointers, sizes and a stream; no torch header comes near them.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef NAVTALK_EMULATE_CUDA
#include <cuda_emulation.h>
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "gpu/cuda/launch_error.h"

// kernel<<<grid, block, shared bytes, stream>>>(...). Launches of nothing, for instance an empty batch, do nothing.
#define NAVTALK_LAUNCH(kernel, grid, block, shared, stream, ...)                            \
  do {                                                                                      \
    const dim3 launch_grid = grid;                                                          \
    if (launch_grid.x == 0 || launch_grid.y == 0 || launch_grid.z == 0) break;              \
    kernel<<<launch_grid, block, shared, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__); \
    ::navtalk::cuda::check_launch(#kernel);                                                 \
  } while (false)
// Before a loop: unrolls it so many times.
#define NAVTALK_PRAGMA(words) _Pragma(#words)
#define NAVTALK_UNROLL(turns) NAVTALK_PRAGMA(unroll turns)
// Shared memory of the size that the launch gives.
#define NAVTALK_DYNAMIC_SHARED(type, name)                    \
  extern __shared__ __align__(16) unsigned char raw_##name[]; \
  type* const name = reinterpret_cast<type*>(raw_##name)
#endif

namespace navtalk::cuda {

// Blocks of `size` that cover `count`.
constexpr unsigned blocks(std::ptrdiff_t count, unsigned size) {
  return count <= 0 ? 0 : static_cast<unsigned>((count + size - 1) / size);
}

}  // namespace navtalk::cuda
