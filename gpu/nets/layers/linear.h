// A matrix product over tokens, [..., in] to [..., out], with weights packed when it is made.
#pragma once

#include <ATen/core/Tensor.h>

namespace navtalk::nets {

class Linear {
 public:
  // `bias` may be undefined. `rows` is a hint for the packing.
  Linear(const at::Tensor& weight, const at::Tensor& bias, std::int64_t rows, at::ScalarType type);
  at::Tensor operator()(const at::Tensor& x) const;                     // [..., in]
  at::Tensor plus(const at::Tensor& x, const at::Tensor& other) const;  // linear(x) + other

 private:
  at::Tensor weight_, bias_;
};

}  // namespace navtalk::nets
