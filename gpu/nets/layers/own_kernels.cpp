#include "gpu/nets/layers/own_kernels.h"

#include <c10/core/ScalarType.h>

#include <ATen/core/Tensor.h>

#include "gpu/device/device.h"
#include "gpu/kernels/conv/depthwise_conv.h"

namespace navtalk::nets {
kernels::Isa isa() {
  static const kernels::Isa best = kernels::best_isa();
  return best;
}

bool own_kernels(ConvKernel wanted, std::int64_t channels, const Placement& place) {
  constexpr std::int64_t k_most_bf16 = 64, k_most_fp32 = 128;
  static const bool amx = widest_isa() == "amx_bf16";
  if (wanted != ConvKernel::winograd || !place.packed || channels % k_kernel_step != 0)
    return false;
  if (place.type == at::kFloat) return isa() != kernels::Isa::portable && channels <= k_most_fp32;
  return isa() == kernels::Isa::avx512 && !amx && channels <= k_most_bf16;
}

bool takes_direct(std::int64_t channels, const Placement& place) {
  return place.packed && place.type == at::kFloat && isa() != kernels::Isa::portable &&
         channels >= k_kernel_step;
}

bool takes_depthwise(const at::Tensor& weight, std::int64_t stride, const Placement& place) {
  const std::int64_t taps = weight.size(2);
  return place.packed && place.type == at::kFloat && isa() != kernels::Isa::portable &&
         weight.size(1) == 1 && weight.size(0) % k_kernel_step == 0 && stride == 1 &&
         weight.size(3) == taps && taps % 2 == 1 && taps <= kernels::DepthwiseConv::k_most_taps;
}

}  // namespace navtalk::nets
