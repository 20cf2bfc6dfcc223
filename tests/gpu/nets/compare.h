// Maps of the formats, and how far two tensors are apart.
#pragma once

#include <ATen/ATen.h>

#include "gpu/kernels/activation.h"
#include "gpu/kernels/isa.h"

namespace navtalk::tests {

// The largest difference, relative to the largest expected value.
inline double difference(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wanted = expected.to(at::kDouble);
  const at::Tensor off = (actual.to(at::kDouble) - wanted).abs();
  return off.max().item<double>() / std::max(1e-30, wanted.abs().max().item<double>());
}

inline at::Tensor activated(const at::Tensor& x, kernels::Activation activation) {
  if (activation == kernels::Activation::relu) return at::relu(x);
  return activation == kernels::Activation::silu ? at::silu(x) : x;
}

inline at::ScalarType scalar(kernels::Format format) {
  return format == kernels::Format::fp32 ? at::kFloat : at::kBFloat16;
}

// For one operation: the format's rounding, and a little for fp32 arithmetic inside.
inline double tolerance(kernels::Format format) {
  return format == kernels::Format::fp32 ? 2e-6 : 5e-3;
}
inline double tolerance(at::ScalarType type) {
  return tolerance(type == at::kFloat ? kernels::Format::fp32 : kernels::Format::bf16);
}

}  // namespace navtalk::tests
