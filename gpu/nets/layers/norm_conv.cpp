#include "gpu/nets/layers/norm_conv.h"

#include <ATen/ATen.h>

namespace navtalk::nets {
namespace {

// With zeros for further channels: stores of three are so slow that sixteen take half the time.
at::Tensor widened(const at::Tensor& x) {
  constexpr std::int64_t k_stored = 16;
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[0] = k_stored - sizes[0];
  return at::cat({x, at::zeros(sizes)}, 0);
}

}  // namespace

NormConv::NormConv(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
                   const Options& options, const Placement& place)
    : norm_(norm, options.groups, options.eps, true, options.norm, place, options.bias) {
  if (options.norm == NormKernel::own)
    winograd_ = Winograd::make(options.conv, weight, bias,
                               {.map_size = {options.map_size, options.map_size}}, place);
  if (!winograd_)
    conv_.emplace(weight, bias, Conv::Geometry{.map_size = {options.map_size, options.map_size}},
                  place);
}

at::Tensor NormConv::operator()(const at::Tensor& x) const {
  if (!winograd_) return (*conv_)(norm_(x));
  const GroupNorm::Affine affine = norm_.affine(x);
  return (*winograd_)(x, {.scale = affine.scale.data(), .shift = affine.shift.data()});
}

at::Tensor NormConv::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  const at::Tensor normed = norm_(x, skip);
  return winograd_ ? (*winograd_)(normed, {}) : (*conv_)(normed);
}

at::Tensor NormConv::consume(at::Tensor x) const {
  if (winograd_) return (*this)(x);
  norm_.in_place(x);
  return (*conv_)(x);
}

at::Tensor NormConv::plus(at::Tensor x, const at::Tensor& other) const {
  if (!winograd_) {
    norm_.in_place(x);
    return conv_->plus(x, other);
  }
  const GroupNorm::Affine affine = norm_.affine(x);
  return (*winograd_)(x,
                      {.add = &other, .scale = affine.scale.data(), .shift = affine.shift.data()});
}

void NormConv::add_to(at::Tensor& sum, at::Tensor x) const {
  if (!winograd_) {
    norm_.in_place(x);
    return conv_->add_to(sum, x);
  }
  const GroupNorm::Affine affine = norm_.affine(x);
  (*winograd_)(x, {.add = &sum, .scale = affine.scale.data(), .shift = affine.shift.data()}, sum);
}

OutputConv::OutputConv(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
                       const NormConv::Options& options, const Placement& place)
    : norm_(norm, options.groups, options.eps, true, options.norm, place) {
  if (options.norm == NormKernel::own && own_kernels(options.conv, weight.size(1), place)) {
    own_.emplace(place.type == at::kFloat ? kernels::Format::fp32 : kernels::Format::bf16,
                 weight.contiguous().const_data_ptr<float>(),
                 bias.contiguous().const_data_ptr<float>(), weight.size(1));
  } else {
    conv_.emplace(widened(weight), widened(bias),
                  Conv::Geometry{.map_size = {options.map_size, options.map_size}}, place);
  }
}

at::Tensor OutputConv::operator()(at::Tensor x) const {
  if (conv_) {
    norm_.in_place(x);
    return (*conv_)(x).narrow(1, 0, 3);
  }
  const GroupNorm::Affine affine = norm_.affine(x);
  at::Tensor y = at::empty({x.size(0), 4, x.size(2), x.size(3)}, x.options().dtype(at::kFloat),
                           at::MemoryFormat::ChannelsLast);
  kernels::output_conv(*own_, {.x = x.const_data_ptr(),
                               .y = y.mutable_data_ptr<float>(),
                               .images = x.size(0),
                               .height = x.size(2),
                               .width = x.size(3),
                               .scale = affine.scale.data(),
                               .shift = affine.shift.data()});
  return y.narrow(1, 0, 3);
}

}  // namespace navtalk::nets
