#include "gpu/nets/layers/linear.h"

#include <ATen/ATen.h>

#include "core/base/check.h"
#include "gpu/kernels/isa.h"
#include "gpu/kernels/parallel_tasks.h"
#include "gpu/nets/layers/onednn.h"
#include "gpu/nets/layers/own_kernels.h"

namespace navtalk::nets {
namespace {

using Reorder = at::Tensor(const at::Tensor& weight, std::optional<std::int64_t> rows);
using LinearPointwise = at::Tensor(const at::Tensor& x, const at::Tensor& w,
                                   const std::optional<at::Tensor>& b, std::string_view attribute,
                                   Scalars scalars, std::optional<std::string_view> algorithm);
using LinearBinary = at::Tensor(const at::Tensor& x, const at::Tensor& other, const at::Tensor& w,
                                const std::optional<at::Tensor>& b, std::string_view attribute);

std::optional<at::Tensor> maybe(const at::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

// Without AVX-512 oneDNN divides a product's sums between threads, so that their number would change pixels.
at::Tensor with_fixed_sums(auto&& call) {
  if (kernels::best_isa() == kernels::Isa::avx512) return call();
  const kernels::OneThread here;
  return call();
}

}  // namespace

Linear::Linear(const at::Tensor& weight, const at::Tensor& bias, std::int64_t rows,
               const Placement& place) {
  if (bias.defined()) bias_ = place.place(bias);
  if (!place.packed) {
    stored_ = StoredWeight(weight, place, at::MemoryFormat::Contiguous);
    return;
  }
  if (takes_direct(weight.size(1), place)) {
    const at::Tensor filled = bias.defined() ? bias.contiguous() : bias;
    direct_.emplace(kernels::DirectConv::Shape{.in = weight.size(1), .out = weight.size(0)},
                    weight.contiguous().const_data_ptr<float>(),
                    filled.defined() ? filled.const_data_ptr<float>() : nullptr);
    return;
  }
  static const auto reorder = find_operator<Reorder>("mkldnn::_reorder_linear_weight", "");
  weight_ = reorder.call(weight.to(place.type).contiguous(), rows);
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  if (direct_) return own(x, nullptr);
  if (stored_.defined()) return at::linear(x, stored_.get(), maybe(bias_));
  static const auto op = find_operator<LinearPointwise>("mkldnn::_linear_pointwise", "");
  return with_fixed_sums([&] { return op.call(x, weight_, maybe(bias_), "none", Scalars(), ""); });
}

at::Tensor Linear::plus(const at::Tensor& x, const at::Tensor& other) const {
  if (direct_) {
    const at::Tensor whole = other.contiguous();
    return own(x, &whole);
  }
  if (stored_.defined()) return at::linear(x, stored_.get(), maybe(bias_)).add_(other);
  static const auto op = find_operator<LinearBinary>("mkldnn::_linear_pointwise", "binary");
  return with_fixed_sums([&] { return op.call(x, other, weight_, maybe(bias_), "add"); });
}

void Linear::add_product_to(at::Tensor& sum, const at::Tensor& x) const {
  NAVTALK_CHECK(stored_.defined() && sum.is_contiguous());
  const at::Tensor weight = stored_.get();
  at::Tensor rows = sum.view({-1, weight.size(0)});
  rows.addmm_(x.reshape({-1, weight.size(1)}), weight.t());
}

at::Tensor Linear::own(const at::Tensor& x, const at::Tensor* add) const {
  const at::Tensor whole = x.contiguous();
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = direct_->shape.out;
  at::Tensor y = at::empty(shape, x.options());
  kernels::direct_conv(*direct_, {.x = whole.const_data_ptr<float>(),
                                  .y = y.mutable_data_ptr<float>(),
                                  .add = add != nullptr ? add->const_data_ptr<float>() : nullptr,
                                  .width = x.numel() / direct_->shape.in});
  return y;
}

}  // namespace navtalk::nets
