// Which instructions the kernels may use. Every kernel exists as plain loops, in AVX-512 for CPUs that have F, BW,
// DQ, VL and BF16, and those of fp32 also in AVX2 with FMA, for all others of the last ten years. Tests compare them.
#pragma once

#include <cstdint>

namespace navtalk::kernels {

enum class Isa { portable, avx2, avx512 };
Isa best_isa();

// What a map's elements are; statistics and arithmetic are always fp32.
enum class Format { fp32, bf16 };
inline std::int64_t item_size(Format format) { return format == Format::fp32 ? 4 : 2; }

}  // namespace navtalk::kernels
