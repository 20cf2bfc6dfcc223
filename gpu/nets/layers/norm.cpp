#include "gpu/nets/layers/norm.h"

#include <ATen/ATen.h>

#include "gpu/kernels/tokens.h"
#include "gpu/nets/layers/format.h"

namespace navtalk::nets {

GroupNorm::GroupNorm(const Weights& weights, std::int64_t groups, float eps, bool silu,
                     NormKernel kernel)
    : gamma_(weights("weight")),
      beta_(weights("bias")),
      groups_(groups),
      eps_(eps),
      silu_(silu),
      kernel_(kernel) {}

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
  if (kernel_ == NormKernel::library) return by_library(x);
  at::Tensor y = at::empty_like(x);
  run(x, nullptr, y);
  return y;
}

at::Tensor GroupNorm::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  if (kernel_ == NormKernel::library) return by_library(at::cat({x, skip}, 1));
  at::Tensor y = at::empty({x.size(0), x.size(1) + skip.size(1), x.size(2), x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  run(x, &skip, y);
  return y;
}

void GroupNorm::in_place(at::Tensor& x) const {
  if (kernel_ == NormKernel::library) {
    x = by_library(x);
  } else {
    run(x, nullptr, x);
  }
}

LayerNorm::LayerNorm(const Weights& weights) : gamma_(weights("weight")), beta_(weights("bias")) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  constexpr float k_eps = 1e-5F;
  at::Tensor y = at::empty_like(x);
  const std::int64_t channels = x.size(-1);
  kernels::layer_norm(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.numel() / channels,
                      channels, gamma_.const_data_ptr<float>(), beta_.const_data_ptr<float>(),
                      k_eps);
  return y;
}

}  // namespace navtalk::nets
