// A weight on a device, in the net's number format or in 8 bits. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include "gpu/nets/placement.h"

namespace navtalk::nets {

// As int8 a weight [out, ...] is whole numbers in [-127,127] times a factor of its output channel, which is the channel's furthest value
// over 127: no value is further off than half a factor. It is expanded for each use. Weights of fewer than k_least values stay in the
// net's format: their bytes do not count, and the first and last layers, which hurt most, are among them.
class StoredWeight {
 public:
  static constexpr std::int64_t k_least = 1 << 15;

  StoredWeight() = default;
  // fp32, [out, ...], onto the device of a placement that is not packed.
  StoredWeight(const at::Tensor& weight, const Placement& place, at::MemoryFormat format);

  bool defined() const { return values_.defined(); }
  // In the net's format. A temporary where it is stored as int8.
  at::Tensor get() const;

 private:
  at::Tensor values_{};   // in the net's format, or int8
  at::Tensor factors_{};  // [out, 1, ...]; undefined: values_ are the weight
};

}  // namespace navtalk::nets
