#include "gpu/nets/layers/winograd.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace navtalk::nets {
namespace {

bool in_steps(const at::Tensor& weight) {
  return weight.size(0) % k_kernel_step == 0 && weight.size(1) % k_kernel_step == 0;
}

// The tiled convolution of such a kernel and stride, if there is one.
std::optional<kernels::TiledKind> tiled_kind(const at::Tensor& weight, std::int64_t stride) {
  using enum kernels::TiledKind;
  const std::int64_t taps = weight.size(2);
  if (weight.size(3) != taps || taps % 2 == 0) return std::nullopt;
  if (taps == 3 && stride <= 2) return stride == 1 ? three : three_halving;
  return taps == 7 && stride == 1 ? std::optional(seven) : std::nullopt;
}

// Those that are faster than a direct one in fp32, as measured; those of 7x7 save so much that they pay with every map.
std::optional<kernels::TiledKind> fp32_kind(const at::Tensor& weight,
                                            const Winograd::Geometry& geometry) {
  constexpr std::int64_t k_few = 128, k_least_tiles = 9;
  const auto kind = tiled_kind(weight, geometry.stride);
  if (!kind || isa() == kernels::Isa::portable || !in_steps(weight)) return std::nullopt;
  const std::int64_t channels = std::max(weight.size(0), weight.size(1));
  const std::int64_t tiles =
      kernels::TiledConv::tiles(*kind, geometry.map_size[0], geometry.map_size[1]);
  const std::int64_t most = *kind == kernels::TiledKind::three_halving ? 1024 : 512;
  const bool pays = *kind == kernels::TiledKind::seven || channels <= k_few ||
                    (channels <= most && tiles >= k_least_tiles);
  return pays ? kind : std::nullopt;
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
                                       const at::Tensor& bias, const Geometry& geometry,
                                       const Placement& place) {
  if (wanted != ConvKernel::winograd || !place.packed) return std::nullopt;
  if (place.type == at::kFloat) {
    const auto kind = fp32_kind(weight, geometry);
    if (!kind) return std::nullopt;
    return Winograd(kernels::TiledConv(*kind, weight.contiguous().const_data_ptr<float>(),
                                       bias.contiguous().const_data_ptr<float>(), weight.size(1),
                                       weight.size(0), geometry.activation));
  }
  const bool even = geometry.map_size[0] % 2 == 0 && geometry.map_size[1] % 2 == 0;
  if (tiled_kind(weight, geometry.stride) != kernels::TiledKind::three || !even ||
      geometry.activation != kernels::Activation::none ||
      !own_kernels(wanted, weight.size(0), place) || !own_kernels(wanted, weight.size(1), place))
    return std::nullopt;
  return Winograd(kernel(kernels::WinogradKind::same, weight, bias, place));
}

at::Tensor Winograd::operator()(const at::Tensor& x, const Maps& maps) const {
  const auto* tiled = std::get_if<kernels::TiledConv>(&kernel_);
  const std::int64_t out = std::visit([](const auto& conv) { return conv.out; }, kernel_);
  const auto size = [&](std::int64_t n) { return tiled != nullptr ? tiled->size_for(n) : n; };
  at::Tensor y = at::empty({x.size(0), out, size(x.size(2)), size(x.size(3))}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  (*this)(x, maps, y);
  return y;
}

void Winograd::operator()(const at::Tensor& x, const Maps& maps, at::Tensor& y) const {
  if (const auto* tiled = std::get_if<kernels::TiledConv>(&kernel_)) {
    tiled_conv(*tiled, {.x = x.const_data_ptr<float>(),
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
