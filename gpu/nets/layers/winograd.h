// 3x3 convolutions by Winograd's kernels (gpu/kernels/winograd).
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "gpu/kernels/winograd/winograd4_conv.h"
#include "gpu/kernels/winograd/winograd_conv.h"
#include "gpu/nets/layers/own_kernels.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Of a doubled map (WinogradKind::doubled), or nullopt where oneDNN's is to be taken.
std::optional<kernels::WinogradConv> doubling_winograd(ConvKernel wanted, const at::Tensor& weight,
                                                       const at::Tensor& bias,
                                                       const Placement& place);

// A 3x3 convolution of stride and padding 1 by our own kernels: F(4x4, 3x3) in fp32, F(2x2, 3x3) in bf16.
class Winograd {
 public:
  // nullopt where oneDNN's is to be taken. `map_size`: rows and columns of the input, a hint; the fp32 weights are four times as
  // many as the taps, which small maps do not pay back.
  static std::optional<Winograd> make(ConvKernel wanted, const at::Tensor& weight,
                                      const at::Tensor& bias,
                                      const std::array<std::int64_t, 2>& map_size,
                                      kernels::Activation activation, const Placement& place);

  struct Maps {
    const at::Tensor* add = nullptr;  // as the result, which may be the same
    // SiLU(x * scale + shift) takes the place of x, [N,C] each; or null.
    const float* scale = nullptr;
    const float* shift = nullptr;
  };
  at::Tensor operator()(const at::Tensor& x, const Maps& maps) const;
  void operator()(const at::Tensor& x, const Maps& maps, at::Tensor& y) const;

 private:
  using Kernel = std::variant<kernels::Winograd4Conv, kernels::WinogradConv>;
  explicit Winograd(Kernel kernel) : kernel_(std::move(kernel)) {}
  Kernel kernel_;
};

}  // namespace navtalk::nets
