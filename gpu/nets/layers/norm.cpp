#include "gpu/nets/layers/norm.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "core/base/check.h"
#include "gpu/kernels/device/group_norm.h"
#include "gpu/kernels/tokens.h"
#include "gpu/nets/device_stream.h"
#include "gpu/nets/layers/device_rows.h"
#include "gpu/nets/layers/format.h"

namespace navtalk::nets {
namespace {

at::Tensor in_nhwc(const at::Tensor& map) { return map.contiguous(at::MemoryFormat::ChannelsLast); }

}  // namespace

GroupNorm::GroupNorm(const Weights& weights, std::int64_t groups, float eps, bool silu,
                     NormKernel kernel, const Placement& place, const at::Tensor& bias)
    : gamma_(place.in(at::kFloat).place(weights("weight"))),
      beta_(place.in(at::kFloat).place(weights("bias"))),
      groups_(groups),
      eps_(eps),
      silu_(silu),
      kernel_(place.packed ? kernel : NormKernel::placed),
      on_device_(place.device_kernels) {
  if (!bias.defined()) return;
  NAVTALK_CHECK(on_device_);
  bias_ = place.in(at::kFloat).place(bias);
}

// Of x, or of x and skip on the channel axis. Statistics are fp32 whatever the maps are.
at::Tensor GroupNorm::placed(const at::Tensor& x, const at::Tensor* skip) const {
  if (on_device_) return on_device(x, skip);
  const at::Tensor all = (skip != nullptr ? at::cat({x, *skip}, 1) : x).to(at::kFloat);
  const at::Tensor y = at::group_norm(all.contiguous(), groups_, gamma_, beta_, eps_);
  return in_nhwc((silu_ ? at::silu(y) : y).to(x.scalar_type()));
}

at::Tensor GroupNorm::on_device(const at::Tensor& x, const at::Tensor* skip) const {
  const at::Tensor a = in_nhwc(x), b = skip != nullptr ? in_nhwc(*skip) : at::Tensor();
  const std::int64_t more = skip != nullptr ? b.size(1) : 0;
  at::Tensor y = at::empty({a.size(0), a.size(1) + more, a.size(2), a.size(3)}, a.options(),
                           at::MemoryFormat::ChannelsLast);
  const cuda::GroupNorm norm{
      .x = a.const_data_ptr(),
      .skip = skip != nullptr ? b.const_data_ptr() : nullptr,
      .y = y.mutable_data_ptr(),
      .format = a.scalar_type() == at::kHalf ? cuda::Format::fp16 : cuda::Format::fp32,
      .images = static_cast<int>(a.size(0)),
      .pixels = static_cast<int>(a.size(2) * a.size(3)),
      .channels = static_cast<int>(a.size(1)),
      .skip_channels = static_cast<int>(more),
      .gamma = gamma_.const_data_ptr<float>(),
      .beta = beta_.const_data_ptr<float>(),
      .bias = bias_.defined() ? bias_.const_data_ptr<float>() : nullptr,
      .groups = static_cast<int>(groups_),
      .eps = eps_,
      .silu = silu_};
  const c10::DeviceGuard device(a.device());
  const auto bytes = static_cast<std::int64_t>(cuda::group_norm_workspace_bytes(norm));
  at::Tensor workspace;
  if (bytes > 0) workspace = at::empty({bytes}, a.options().dtype(at::kByte));
  cuda::group_norm(norm, bytes > 0 ? workspace.mutable_data_ptr() : nullptr, stream_of(a.device()));
  return y;
}

at::Tensor GroupNorm::by_library(const at::Tensor& x) const {
  const at::Tensor y = at::group_norm(x.contiguous(at::MemoryFormat::ChannelsLast), groups_,
                                      gamma_.to(x.dtype()), beta_.to(x.dtype()), eps_);
  return silu_ ? at::silu(y) : y;
}

kernels::GroupNorm GroupNorm::task(const at::Tensor& x, const at::Tensor* skip) const {
  return {.x = x.const_data_ptr(),
          .skip = skip ? skip->const_data_ptr() : nullptr,
          .format = format_of(x),
          .images = x.size(0),
          .pixels = x.size(2) * x.size(3),
          .channels = x.size(1),
          .skip_channels = skip ? skip->size(1) : 0,
          .gamma = gamma_.const_data_ptr<float>(),
          .beta = beta_.const_data_ptr<float>(),
          .groups = groups_,
          .eps = eps_,
          .silu = silu_};
}

void GroupNorm::run(const at::Tensor& x, const at::Tensor* skip, at::Tensor& y) const {
  kernels::GroupNorm norm = task(x, skip);
  norm.y = y.mutable_data_ptr();
  kernels::group_norm(norm);
}

GroupNorm::Affine GroupNorm::affine(const at::Tensor& x) const {
  const auto size = static_cast<std::size_t>(x.size(0) * x.size(1));
  Affine result{std::vector<float>(size), std::vector<float>(size)};
  kernels::group_norm_affine(task(x, nullptr), result.scale.data(), result.shift.data());
  return result;
}

at::Tensor GroupNorm::operator()(const at::Tensor& x) const {
  if (kernel_ == NormKernel::placed) return placed(x, nullptr);
  if (kernel_ == NormKernel::library) return by_library(x);
  at::Tensor y = at::empty_like(x);
  run(x, nullptr, y);
  return y;
}

at::Tensor GroupNorm::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  if (kernel_ == NormKernel::placed) return placed(x, &skip);
  if (kernel_ == NormKernel::library) return by_library(at::cat({x, skip}, 1));
  at::Tensor y = at::empty({x.size(0), x.size(1) + skip.size(1), x.size(2), x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  run(x, &skip, y);
  return y;
}

void GroupNorm::in_place(at::Tensor& x) const {
  if (kernel_ == NormKernel::placed) {
    x = placed(x, nullptr);
  } else if (kernel_ == NormKernel::library) {
    x = by_library(x);
  } else {
    run(x, nullptr, x);
  }
}

LayerNorm::LayerNorm(const Weights& weights, const Placement& place, const at::Tensor& bias)
    : packed_(place.packed), on_device_(place.device_kernels) {
  const Placement own = on_device_ ? place.in(at::kFloat) : place;
  gamma_ = packed_ ? weights("weight") : own.place(weights("weight"));
  beta_ = packed_ ? weights("bias") : own.place(weights("bias"));
  if (!bias.defined()) return;
  NAVTALK_CHECK(on_device_);
  bias_ = own.place(bias);
}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  constexpr float k_eps = 1e-5F;
  if (on_device_) return layer_norm_on_device(x, bias_, gamma_, beta_, k_eps);
  if (!packed_) return at::layer_norm(x, {x.size(-1)}, gamma_, beta_, k_eps);
  at::Tensor y = at::empty_like(x);
  const std::int64_t channels = x.size(-1);
  kernels::layer_norm(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.numel() / channels,
                      channels, gamma_.const_data_ptr<float>(), beta_.const_data_ptr<float>(),
                      k_eps);
  return y;
}

}  // namespace navtalk::nets
