// In which number format the kernels read a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "gpu/device/device.h"
#include "gpu/kernels/isa.h"

namespace navtalk::nets {

inline kernels::Format format_of(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 ? kernels::Format::bf16 : kernels::Format::fp32;
}

inline at::ScalarType scalar_type(Precision precision) {
  return precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
}

}  // namespace navtalk::nets
