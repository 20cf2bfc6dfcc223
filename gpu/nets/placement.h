// Where a net's layers compute, in which number format, and with whose kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "gpu/device/device.h"

namespace navtalk::nets {

class PlacedWeights;

struct Placement {
  // The CPU, with oneDNN's packed weights and our own kernels: fp32 and bf16.
  Placement(at::ScalarType of_type) : type(of_type) {}
  // `device`, with libtorch's operators, and on a GPU our kernels between them. With the CPU as the device this is the same code: slow, and
  // for comparisons.
  Placement(at::ScalarType of_type, at::Device of_device)
      : type(of_type), device(of_device), packed(false), device_kernels(!of_device.is_cpu()) {}

  at::ScalarType type;
  at::Device device = at::kCPU;
  bool packed = true;           // false: libtorch's operators
  bool device_kernels = false;  // our CUDA kernels (gpu/kernels/device) on what lies on the device
  WeightFormat weights = WeightFormat::computed;  // of StoredWeight
  std::shared_ptr<PlacedWeights>
      kept{};  // hears of every weight that is not packed; nullptr: nobody does

  Placement in(at::ScalarType other) const {
    Placement same = *this;
    same.type = other;
    return same;
  }
  at::Tensor place(const at::Tensor& weight,
                   at::MemoryFormat format = at::MemoryFormat::Contiguous) const {
    return keep(weight.to(device, type).contiguous(format));
  }
  // What lies on the device already.
  at::Tensor keep(at::Tensor placed) const;
};

}  // namespace navtalk::nets
