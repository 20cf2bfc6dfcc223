// cuda::add_to_rows() and its neighbours on tensors: tokens [N,L,C], or maps [N,C,H,W] in channels_last memory. What is not packed so is
// packed first. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

namespace navtalk::nets {

// x += add + bias, in place. `add` (of x's shape) and `bias` ([C], fp32) may be undefined.
void add_on_device(at::Tensor& x, const at::Tensor& add, const at::Tensor& bias);
// sum += x + bias, in place.
void add_to_on_device(at::Tensor& sum, const at::Tensor& x, const at::Tensor& bias);

at::Tensor geglu_on_device(const at::Tensor& x);  // [N,L,2C] -> [N,L,C]

// Of x + bias; `bias` may be undefined. gamma, beta and bias are fp32.
at::Tensor layer_norm_on_device(const at::Tensor& x, const at::Tensor& bias,
                                const at::Tensor& gamma, const at::Tensor& beta, float eps);

// [N,4C,H+1,W+1], phase after phase, to [N,C,2H,2W], plus the bias.
at::Tensor interleave_on_device(const at::Tensor& phases, const at::Tensor& bias);

}  // namespace navtalk::nets
