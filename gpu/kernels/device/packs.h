// Values that a thread reads and writes together. Only for kernel sources (.cu).
#pragma once

#include "gpu/cuda/format.h"
#include "gpu/cuda/kernel.h"

namespace navtalk::cuda {

// Neighbouring values, in one access of up to 16 bytes.
template <class Value, int size>
struct alignas(sizeof(Value) * size) Pack {
  Value at[size];
};

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__half value) { return __half2float(value); }
__device__ inline void put(float& to, float value) { to = value; }
__device__ inline void put(__half& to, float value) { to = __float2half_rn(value); }

template <class Value, int size>
__device__ inline Pack<Value, size> load_pack(const Value* at) {
  return *reinterpret_cast<const Pack<Value, size>*>(at);
}
template <class Value, int size>
__device__ inline void store_pack(Value* at, const Pack<Value, size>& pack) {
  *reinterpret_cast<Pack<Value, size>*>(at) = pack;
}

// fp32 values beside a pack of `size` values of a kernel's format, in as few accesses as the pack's alignment allows: 2 bytes of it a value.
// Zeros where there are none.
template <int size>
struct Floats {
  float at[size] = {};
};
template <int size>
__device__ inline Floats<size> load_floats(const float* from) {
  Floats<size> values;
  if (from == nullptr) return values;
  constexpr int k_wide = size >= 8 ? 4 : size >= 4 ? 2 : 1;
  for (int i = 0; i < size; i += k_wide) {
    const auto some = load_pack<float, k_wide>(from + i);
    for (int j = 0; j < k_wide; ++j) values.at[i + j] = some.at[j];
  }
  return values;
}

inline constexpr int k_warp = 32;
inline constexpr unsigned k_whole_warp = 0xffffffffU;

// The sum over the warp, in every thread of it.
__device__ inline float warp_sum(float value) {
  for (int bits = k_warp / 2; bits > 0; bits /= 2)
    value += __shfl_xor_sync(k_whole_warp, value, bits);
  return value;
}

// How many values a pack may have: the most up to `most`, a power of two, that divides every count, at addresses that are multiples of it.
template <class Value>
constexpr int k_most_pack = 16 / static_cast<int>(sizeof(Value));
template <class Value>
int widest_pack(std::initializer_list<int> counts, std::initializer_list<const void*> addresses) {
  int size = k_most_pack<Value>;
  for (const int count : counts)
    while (count % size != 0) size /= 2;
  for (const void* address : addresses)
    while (reinterpret_cast<std::uintptr_t>(address) %
               (static_cast<unsigned>(size) * sizeof(Value)) !=
           0)
      size /= 2;
  return size;
}

}  // namespace navtalk::cuda
