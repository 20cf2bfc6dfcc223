// Convolutions by Winograd's kernels (gpu/kernels/winograd).
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "gpu/kernels/winograd/tiled_conv.h"
#include "gpu/kernels/winograd/winograd_conv.h"
#include "gpu/nets/layers/own_kernels.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Of a doubled map (WinogradKind::doubled), or nullopt where oneDNN's is to be taken.
std::optional<kernels::WinogradConv> doubling_winograd(ConvKernel wanted, const at::Tensor& weight,
                                                       const at::Tensor& bias,
                                                       const Placement& place);

// A convolution by our own kernels: in fp32 of the kinds of TiledKind, in bf16 F(2x2, 3x3).
class Winograd {
 public:
  // Zeros at the edges keep the map's size, or halve it with a stride of 2.
  struct Geometry {
    std::int64_t stride = 1;
    // Rows and columns of the input, a hint: the fp32 weights of 3x3 kernels are four times as many as the taps, which small maps do
    // not pay back.
    std::array<std::int64_t, 2> map_size{};
    kernels::Activation activation = kernels::Activation::none;
  };
  // nullopt where other kernels are to be taken, or there is none.
  static std::optional<Winograd> make(ConvKernel wanted, const at::Tensor& weight,
                                      const at::Tensor& bias, const Geometry& geometry,
                                      const Placement& place);

  struct Maps {
    const at::Tensor* add = nullptr;  // as the result, which may be the same
    // SiLU(x * scale + shift) takes the place of x, [N,C] each; or null.
    const float* scale = nullptr;
    const float* shift = nullptr;
  };
  at::Tensor operator()(const at::Tensor& x, const Maps& maps) const;
  void operator()(const at::Tensor& x, const Maps& maps, at::Tensor& y) const;

 private:
  using Kernel = std::variant<kernels::TiledConv, kernels::WinogradConv>;
  explicit Winograd(Kernel kernel) : kernel_(std::move(kernel)) {}
  Kernel kernel_;
};

}  // namespace navtalk::nets
