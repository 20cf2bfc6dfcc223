#include "gpu/nets/layers/attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "gpu/device/device.h"
#include "gpu/kernels/attention/attention.h"
#include "gpu/nets/layers/format.h"

namespace navtalk::nets {
namespace {

// AMX multiplies wide heads faster than our kernel, which keeps to fp32.
bool prefers_library(const at::Tensor& q, std::int64_t width) {
  static const bool amx = widest_isa() == "amx_bf16";
  return !has_kernels(q) || !kernels::has_attention(format_of(q)) ||
         (amx && q.scalar_type() == at::kBFloat16 && width >= 64);
}

kernels::Tokens tokens(const at::Tensor& x) {
  return {.data = x.const_data_ptr(), .image = x.stride(0), .row = x.stride(1)};
}

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     std::int64_t heads) {
  const std::int64_t width = q.size(2) / heads;
  constexpr std::int64_t k_widest_fused = 256;
  if (q.is_cuda() && heads == 1 && width > k_widest_fused) return attention_by_products(q, k, v);
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

at::Tensor attention_by_products(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
  const at::Tensor none = at::empty({1, 1, 1}, q.options());
  const at::Tensor scores = at::baddbmm(none, q, k.transpose(1, 2), 0, scale);
  return at::bmm(at::softmax(scores, 2), v);
}

at::Tensor to_tokens(const at::Tensor& map) { return map.permute({0, 2, 3, 1}).flatten(1, 2); }

at::Tensor to_map(const at::Tensor& tokens, std::int64_t height, std::int64_t width) {
  return tokens.unflatten(1, {height, width}).permute({0, 3, 1, 2});
}

}  // namespace navtalk::nets
