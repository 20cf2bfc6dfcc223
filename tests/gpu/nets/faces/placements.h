// Where the tests of the face networks compute, and how near they come to their formulas.
#pragma once

#include <vector>

#include "gpu/device/device.h"
#include "gpu/nets/placement.h"

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
  if (widest_isa() != "avx2" && widest_isa() != "sse2") all.push_back({at::kBFloat16, 1e-3, 0.5});
  return all;
}

}  // namespace navtalk::tests
