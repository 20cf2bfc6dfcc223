// A weight on a device, in the net's format or in eight bits. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include "gpu/nets/placement.h"

namespace navtalk::nets {

// In eight bits a weight [out, ...] is a whole number in [-127,127] times a factor of its output channel, which is the channel's
// furthest value over 127: half a step is at most 1/254 of that value. It is expanded for each use.
class StoredWeight {
 public:
  StoredWeight() = default;
  StoredWeight(const at::Tensor& weight, const Placement& place, at::MemoryFormat format);

  bool defined() const { return values_.defined(); }
  // In the net's format. A temporary, where it is stored in eight bits.
  at::Tensor get() const;

 private:
  at::Tensor values_{};   // in the net's format, or bytes
  at::Tensor factors_{};  // [out, 1, ...]; undefined: values_ are the weight
};

}  // namespace navtalk::nets
