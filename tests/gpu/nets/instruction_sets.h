// The kernels that this processor can run: the portable ones, and the fastest.
#pragma once

#include <vector>

#include "gpu/kernels/isa.h"

namespace navtalk::tests {

inline std::vector<kernels::Isa> instruction_sets() {
  std::vector<kernels::Isa> all{kernels::Isa::portable};
  if (kernels::best_isa() != kernels::Isa::portable) all.push_back(kernels::best_isa());
  return all;
}

}  // namespace navtalk::tests
