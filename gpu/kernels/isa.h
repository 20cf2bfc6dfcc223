// Which instructions the kernels may use. Every kernel exists twice: plain loops, and AVX-512 for
// CPUs that have F, BW, DQ, VL and BF16. Tests compare the two.
#pragma once

#include <cstdint>

namespace navtalk::kernels {

enum class Isa { portable, avx512 };
Isa best_isa();

// What a map's elements are; statistics and arithmetic are always fp32.
enum class Format { fp32, bf16 };
inline std::int64_t item_size(Format format) { return format == Format::fp32 ? 4 : 2; }

}  // namespace navtalk::kernels
