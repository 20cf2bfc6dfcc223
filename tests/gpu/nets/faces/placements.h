// Where the tests of the face networks compute, and how near they come to their formulas.
#pragma once

#include <vector>

#include "gpu/nets/placement.h"
#include "tests/gpu/nets/instruction_sets.h"

namespace navtalk::tests {

// Of the largest difference, in standard deviations of what is expected.
struct PlacementBounds {
  nets::Placement place;
  double least, most;  // a coarse number format shows
};

// The CPU's own layers in fp32 and, where this CPU has it, in bf16; libtorch's operators, as on a GPU.
inline std::vector<PlacementBounds> placement_bounds() {
  std::vector<PlacementBounds> all{{at::kFloat, 0, 1e-4},
                                   {{at::kFloat, at::Device(at::kCPU)}, 0, 1e-4}};
  if (packed_types().size() > 1) all.push_back({at::kBFloat16, 1e-3, 0.5});
  return all;
}

}  // namespace navtalk::tests
