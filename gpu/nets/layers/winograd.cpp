#include "gpu/nets/layers/winograd.h"

#include <ATen/ATen.h>

#include "gpu/device/device.h"
#include "gpu/kernels/isa.h"

namespace navtalk::nets {

bool own_kernels(ConvKernel wanted, std::int64_t channels, const Placement& place) {
  constexpr std::int64_t k_step = 16, k_most_bf16 = 64, k_most_fp32 = 128;
  static const kernels::Isa isa = kernels::best_isa();
  static const bool amx = widest_isa() == "amx_bf16";
  if (wanted != ConvKernel::winograd || !place.packed || channels % k_step != 0) return false;
  if (place.type == at::kFloat) return isa == kernels::Isa::avx2 && channels <= k_most_fp32;
  return isa == kernels::Isa::avx512 && !amx && channels <= k_most_bf16;
}

std::optional<kernels::WinogradConv> winograd(kernels::WinogradKind kind, ConvKernel wanted,
                                              const at::Tensor& weight, const at::Tensor& bias,
                                              const Placement& place) {
  if (!own_kernels(wanted, weight.size(0), place) || !own_kernels(wanted, weight.size(1), place))
    return std::nullopt;
  const auto format = place.type == at::kFloat ? kernels::Format::fp32 : kernels::Format::bf16;
  return kernels::WinogradConv(kind, format, weight.contiguous().const_data_ptr<float>(),
                               bias.contiguous().const_data_ptr<float>(), weight.size(1),
                               weight.size(0));
}

}  // namespace navtalk::nets
