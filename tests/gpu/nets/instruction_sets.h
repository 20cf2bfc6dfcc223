// What this processor can run: kernels (one that has AVX-512 has AVX2, too), and number formats of packed layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gpu/device/device.h"
#include "gpu/kernels/isa.h"

namespace navtalk::tests {

inline std::vector<kernels::Isa> instruction_sets() {
  using enum kernels::Isa;
  switch (kernels::best_isa()) {
    case avx512:
      return {portable, avx2, avx512};
    case avx2:
      return {portable, avx2};
    case portable:
      break;
  }
  return {portable};
}

// oneDNN packs bf16 weights only for processors that have AVX-512.
inline std::vector<at::ScalarType> packed_types() {
  const bool bf16 = widest_isa() != "avx2" && widest_isa() != "sse2";
  return bf16 ? std::vector{at::kFloat, at::kBFloat16} : std::vector{at::kFloat};
}

}  // namespace navtalk::tests
