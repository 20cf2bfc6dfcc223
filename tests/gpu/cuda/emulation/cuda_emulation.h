// CUDA's execution model on the CPU, so that a kernel's own source runs in tests without a GPU: the threads of a block are
// fibers, which take turns at barriers and shuffles; blocks run one after the other, also of launches by several threads. AddressSanitizer and
// UndefinedBehaviorSanitizer see every access. Not emulated: races between threads of a block, memory ordering, speed.
#pragma once

#include <cuda_fp16.h>     // __half and its conversions, which the host has, too
#include <vector_types.h>  // dim3, uint3, float4

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

namespace navtalk::emulation {

// Runs `thread` once for every thread of every block. Throws std::logic_error where a launch breaks a limit of the device, where
// threads of one block do not meet at the same barriers, or where a shuffle leaves out a thread of its mask.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);

// What the running thread sees.
const uint3& thread_index();
const uint3& block_index();
const dim3& block_size();
const dim3& grid_size();
unsigned char*
dynamic_shared();  // of exactly the launch's size, so that AddressSanitizer sees what lies beyond

enum class Meeting { barrier, shuffle };
void meet(Meeting meeting);
// What thread `lane` of this warp brought; `value` where there is no such thread.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned lane);
unsigned lane();

template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits, from);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            Arguments&&... arguments) {
  run(grid, block, shared_bytes, [&] { kernel(static_cast<Parameters>(arguments)...); });
}

}  // namespace navtalk::emulation

#define NAVTALK_LAUNCH(kernel, grid, block, shared, stream, ...) \
  (static_cast<void>(stream),                                    \
   ::navtalk::emulation::launch(kernel, grid, block, shared __VA_OPT__(, ) __VA_ARGS__))
#define NAVTALK_UNROLL(turns)
#define NAVTALK_DYNAMIC_SHARED(type, name) \
  type* const name = reinterpret_cast<type*>(::navtalk::emulation::dynamic_shared())

// The words of the language and the intrinsics that the kernels use.
#undef __global__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __restrict__
#define __global__
#define __grid_constant__
#define __shared__ \
  static  // one block at a time runs; not thread_local, whose ends AddressSanitizer does not guard
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define threadIdx (::navtalk::emulation::thread_index())
#define blockIdx (::navtalk::emulation::block_index())
#define blockDim (::navtalk::emulation::block_size())
#define gridDim (::navtalk::emulation::grid_size())
#define __syncthreads() ::navtalk::emulation::meet(::navtalk::emulation::Meeting::barrier)
#define __shfl_xor_sync(mask, value, bits)   \
  ::navtalk::emulation::shuffle(mask, value, \
                                ::navtalk::emulation::lane() ^ static_cast<unsigned>(bits))
#define __shfl_down_sync(mask, value, by)    \
  ::navtalk::emulation::shuffle(mask, value, \
                                ::navtalk::emulation::lane() + static_cast<unsigned>(by))

// The build has -ffp-contract=off: one operation, one rounding.
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline int __float2int_rn(float value) { return static_cast<int>(std::nearbyint(value)); }
inline int __float2int_rd(float value) { return static_cast<int>(std::floor(value)); }
inline float __expf(float value) { return std::exp(value); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }

// Threads take turns, and blocks run one after the other: every access is atomic, and visible at once.
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
