// Which layers our own kernels take from oneDNN.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "gpu/kernels/winograd/winograd4_conv.h"
#include "gpu/kernels/winograd/winograd_conv.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Who computes a 3x3 convolution: oneDNN, or our own kernels (gpu/kernels/winograd, gpu/kernels/conv) where they are faster. In bf16 these round a
// little more than oneDNN; in fp32 they do not, and `library` is a request for comparisons only.
enum class ConvKernel : std::uint8_t { library, winograd };
// For nets that the rounding of bf16 would cost too much.
inline ConvKernel winograd_in_fp32(const Placement& place) {
  return place.type == at::kFloat ? ConvKernel::winograd : ConvKernel::library;
}

// Whether the kernels for narrow maps are to take a convolution of so many channels: where they are wanted and were measured to
// be faster, which is bf16 on AVX-512 with up to 64 (AMX multiplies faster than they save) and fp32 on AVX2 with up to 128.
bool own_kernels(ConvKernel wanted, std::int64_t channels, const Placement& place);

// Whether our own kernels are to take a linear layer, or a convolution with any kernel but not in groups, of so many input channels:
// fp32 on AVX2. There oneDNN divides the sums of linear layers between threads, so that their number would change pixels, and
// packs weights for one size of batch, so that another one packs them anew each time.
bool takes_direct(std::int64_t channels, const Placement& place);

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
