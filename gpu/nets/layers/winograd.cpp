#include "gpu/nets/layers/winograd.h"

#include <ATen/ATen.h>

#include "gpu/device/device.h"
#include "gpu/kernels/isa.h"

namespace navtalk::nets {

bool own_kernels(ConvKernel wanted, std::int64_t inputs, const Placement& place) {
  constexpr std::int64_t k_step = 16, k_most = 64;
  static const bool faster =
      kernels::best_isa() == kernels::Isa::avx512 && widest_isa() != "amx_bf16";
  return wanted == ConvKernel::winograd && faster && place.packed && place.type == at::kBFloat16 &&
         inputs % k_step == 0 && inputs <= k_most;
}

std::optional<kernels::WinogradConv> winograd(kernels::WinogradKind kind, ConvKernel wanted,
                                              const at::Tensor& weight, const at::Tensor& bias,
                                              const Placement& place) {
  if (!own_kernels(wanted, weight.size(0), place) || !own_kernels(wanted, weight.size(1), place))
    return std::nullopt;
  return kernels::WinogradConv(kind, weight.contiguous().const_data_ptr<float>(),
                               bias.contiguous().const_data_ptr<float>(), weight.size(1),
                               weight.size(0));
}

std::uint16_t* halves(at::Tensor& map) {
  return static_cast<std::uint16_t*>(map.mutable_data_ptr());
}
const std::uint16_t* halves(const at::Tensor& map) {
  return static_cast<const std::uint16_t*>(map.const_data_ptr());
}

}  // namespace navtalk::nets
