#include "gpu/nets/layers.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "gpu/device/device.h"
#include "gpu/kernels/attention/attention.h"
#include "gpu/kernels/group_norm.h"
#include "gpu/kernels/tokens.h"

namespace navtalk::nets {
namespace {

using Scalars = at::List<std::optional<at::Scalar>>;
using Reorder = at::Tensor(const at::Tensor& weight, std::optional<std::int64_t> rows);
using Pointwise = at::Tensor(const at::Tensor& x, const at::Tensor& w,
                             const std::optional<at::Tensor>& b, std::string_view attribute,
                             Scalars scalars, std::optional<std::string_view> algorithm);
using Binary = at::Tensor(const at::Tensor& x, const at::Tensor& other, const at::Tensor& w,
                          const std::optional<at::Tensor>& b, std::string_view attribute);

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

std::optional<at::Tensor> maybe(const at::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

}  // namespace

kernels::Format format_of(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 ? kernels::Format::bf16 : kernels::Format::fp32;
}

Linear::Linear(const at::Tensor& weight, const at::Tensor& bias, std::int64_t rows,
               at::ScalarType type) {
  static const auto reorder = find<Reorder>("mkldnn::_reorder_linear_weight", "");
  weight_ = reorder.call(weight.to(type).contiguous(), rows);
  if (bias.defined()) bias_ = bias.to(type).contiguous();
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  static const auto op = find<Pointwise>("mkldnn::_linear_pointwise", "");
  return op.call(x, weight_, maybe(bias_), "none", Scalars(), "");
}

at::Tensor Linear::plus(const at::Tensor& x, const at::Tensor& other) const {
  static const auto op = find<Binary>("mkldnn::_linear_pointwise", "binary");
  return op.call(x, other, weight_, maybe(bias_), "add");
}

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

at::Tensor gelu_of(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  kernels::gelu(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.numel());
  return y;
}

at::Tensor geglu_of(const at::Tensor& x) {
  const std::int64_t channels = x.size(2) / 2;
  at::Tensor y = at::empty({x.size(0), x.size(1), channels}, x.options());
  kernels::geglu(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.size(0) * x.size(1),
                 channels);
  return y;
}

namespace {

// AMX multiplies wide heads faster than our kernel, which keeps to fp32.
bool prefers_library(const at::Tensor& q, std::int64_t width) {
  static const bool amx = widest_isa() == "amx_bf16";
  return !kernels::has_attention() || (amx && q.scalar_type() == at::kBFloat16 && width >= 64);
}

kernels::Tokens tokens(const at::Tensor& x) {
  return {.data = x.const_data_ptr(), .image = x.stride(0), .row = x.stride(1)};
}

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     std::int64_t heads) {
  const std::int64_t width = q.size(2) / heads;
  if (prefers_library(q, width)) {
    const auto split = [&](const at::Tensor& x) {
      return x.unflatten(2, {heads, width}).transpose(1, 2);
    };
    const at::Tensor y = at::scaled_dot_product_attention(split(q), split(k), split(v));
    return y.transpose(1, 2).contiguous().flatten(2);
  }
  at::Tensor y = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
  kernels::attention({.q = tokens(q),
                      .k = tokens(k),
                      .v = tokens(v),
                      .y = y.mutable_data_ptr(),
                      .format = format_of(q),
                      .images = q.size(0),
                      .heads = heads,
                      .queries = q.size(1),
                      .keys = k.size(1),
                      .width = width});
  return y;
}

at::Tensor to_tokens(const at::Tensor& map) { return map.permute({0, 2, 3, 1}).flatten(1, 2); }

at::Tensor to_map(const at::Tensor& tokens, std::int64_t height, std::int64_t width) {
  return tokens.unflatten(1, {height, width}).permute({0, 3, 1, 2});
}

}  // namespace navtalk::nets
