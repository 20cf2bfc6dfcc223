// The kernels that this processor can run. One that has AVX-512 has AVX2, too.
#pragma once

#include <vector>

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

}  // namespace navtalk::tests
