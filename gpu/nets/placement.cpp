#include "gpu/nets/placement.h"

#include <ATen/ATen.h>

#include <utility>

#include "gpu/nets/placed_weights.h"

namespace navtalk::nets {

at::Tensor Placement::keep(at::Tensor placed) const {
  return kept ? kept->add(std::move(placed)) : placed;
}

}  // namespace navtalk::nets
