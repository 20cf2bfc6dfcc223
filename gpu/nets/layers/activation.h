// Activations of tokens.
#pragma once

#include <ATen/core/Tensor.h>

namespace navtalk::nets {

at::Tensor gelu_of(const at::Tensor& x);
at::Tensor geglu_of(const at::Tensor& x);  // [N,L,2C] -> [N,L,C]

}  // namespace navtalk::nets
