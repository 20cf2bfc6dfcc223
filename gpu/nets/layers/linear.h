// A matrix product over tokens, [..., in] to [..., out], with weights packed when it is made.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "gpu/kernels/conv/direct_conv.h"
#include "gpu/nets/layers/stored_weight.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

class Linear {
 public:
  // `bias` may be undefined. `rows` is a hint for the packing.
  Linear(const at::Tensor& weight, const at::Tensor& bias, std::int64_t rows,
         const Placement& place);
  at::Tensor operator()(const at::Tensor& x) const;                     // [..., in]
  at::Tensor plus(const at::Tensor& x, const at::Tensor& other) const;  // linear(x) + other
  // sum += x times the weight, without the bias, in the memory of `sum` [N,L,out], which is packed. With device_kernels only.
  void add_product_to(at::Tensor& sum, const at::Tensor& x) const;

 private:
  at::Tensor own(const at::Tensor& x, const at::Tensor* add) const;
  at::Tensor weight_, bias_;
  StoredWeight stored_;                        // instead of weight_, where it is not packed
  std::optional<kernels::DirectConv> direct_;  // instead of both
};

}  // namespace navtalk::nets
