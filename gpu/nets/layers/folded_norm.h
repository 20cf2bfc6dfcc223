// A convolution and the batch norm behind it as one convolution.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "gpu/nets/weights.h"

namespace navtalk::nets {

struct FoldedConv {
  at::Tensor weight, bias;  // fp32
};

// (conv(x) - mean) / sqrt(var + 1e-5) * weight + bias, of a convolution without a bias: the tensors CONV.weight and
// NORM.{weight,bias,running_mean,running_var}.
FoldedConv folded_norm(const Weights& weights, const std::string& conv, const std::string& norm);

}  // namespace navtalk::nets
