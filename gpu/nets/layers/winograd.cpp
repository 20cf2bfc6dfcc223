#include "gpu/nets/layers/winograd.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace navtalk::nets {
namespace {

bool in_steps(const at::Tensor& weight) {
  return weight.size(0) % k_kernel_step == 0 && weight.size(1) % k_kernel_step == 0;
}

// Measured up to 512 channels.
bool takes_fp32(const at::Tensor& weight, const std::array<std::int64_t, 2>& map_size) {
  constexpr std::int64_t k_few = 128, k_most = 512, k_least_tiles = 9;
  const std::int64_t channels = std::max(weight.size(0), weight.size(1));
  const std::int64_t tiles = (map_size[0] + 3) / 4 * ((map_size[1] + 3) / 4);
  return isa() != kernels::Isa::portable && in_steps(weight) &&
         (channels <= k_few || (channels <= k_most && tiles >= k_least_tiles));
}

kernels::WinogradConv kernel(kernels::WinogradKind kind, const at::Tensor& weight,
                             const at::Tensor& bias, const Placement& place) {
  const auto format = place.type == at::kFloat ? kernels::Format::fp32 : kernels::Format::bf16;
  return {kind,
          format,
          weight.contiguous().const_data_ptr<float>(),
          bias.contiguous().const_data_ptr<float>(),
          weight.size(1),
          weight.size(0)};
}

}  // namespace

std::optional<kernels::WinogradConv> doubling_winograd(ConvKernel wanted, const at::Tensor& weight,
                                                       const at::Tensor& bias,
                                                       const Placement& place) {
  if (!own_kernels(wanted, weight.size(0), place) || !own_kernels(wanted, weight.size(1), place))
    return std::nullopt;
  return kernel(kernels::WinogradKind::doubled, weight, bias, place);
}

std::optional<Winograd> Winograd::make(ConvKernel wanted, const at::Tensor& weight,
                                       const at::Tensor& bias,
                                       const std::array<std::int64_t, 2>& map_size,
                                       kernels::Activation activation, const Placement& place) {
  if (wanted != ConvKernel::winograd || !place.packed) return std::nullopt;
  if (place.type == at::kFloat) {
    if (!takes_fp32(weight, map_size)) return std::nullopt;
    return Winograd(kernels::Winograd4Conv(weight.contiguous().const_data_ptr<float>(),
                                           bias.contiguous().const_data_ptr<float>(),
                                           weight.size(1), weight.size(0), activation));
  }
  const bool even = map_size[0] % 2 == 0 && map_size[1] % 2 == 0;
  if (!even || activation != kernels::Activation::none ||
      !own_kernels(wanted, weight.size(0), place) || !own_kernels(wanted, weight.size(1), place))
    return std::nullopt;
  return Winograd(kernel(kernels::WinogradKind::same, weight, bias, place));
}

at::Tensor Winograd::operator()(const at::Tensor& x, const Maps& maps) const {
  const std::int64_t out = std::visit([](const auto& conv) { return conv.out; }, kernel_);
  at::Tensor y = at::empty({x.size(0), out, x.size(2), x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  (*this)(x, maps, y);
  return y;
}

void Winograd::operator()(const at::Tensor& x, const Maps& maps, at::Tensor& y) const {
  if (const auto* four = std::get_if<kernels::Winograd4Conv>(&kernel_)) {
    winograd4_conv(*four, {.x = x.const_data_ptr<float>(),
                           .y = y.mutable_data_ptr<float>(),
                           .add = maps.add != nullptr ? maps.add->const_data_ptr<float>() : nullptr,
                           .images = x.size(0),
                           .height = x.size(2),
                           .width = x.size(3),
                           .scale = maps.scale,
                           .shift = maps.shift});
    return;
  }
  winograd_conv(std::get<kernels::WinogradConv>(kernel_),
                {.x = x.const_data_ptr(),
                 .y = y.mutable_data_ptr(),
                 .add = maps.add != nullptr ? maps.add->const_data_ptr() : nullptr,
                 .images = x.size(0),
                 .height = x.size(2),
                 .width = x.size(3),
                 .scale = maps.scale,
                 .shift = maps.shift});
}

}  // namespace navtalk::nets
