// In which number format the kernels read a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "gpu/device/device.h"
#include "gpu/kernels/isa.h"

namespace navtalk::nets {

inline kernels::Format format_of(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 ? kernels::Format::bf16 : kernels::Format::fp32;
}

// Whether our own kernels of the CPU read the tensor; what they do not is libtorch's.
inline bool has_kernels(const at::Tensor& x) { return x.is_cpu() && x.scalar_type() != at::kHalf; }

inline at::ScalarType scalar_type(Precision precision) {
  if (precision == Precision::fp16) return at::kHalf;
  return precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
}

}  // namespace navtalk::nets
