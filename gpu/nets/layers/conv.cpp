#include "gpu/nets/layers/conv.h"

#include <ATen/ATen.h>

#include "core/base/check.h"
#include "gpu/kernels/maps.h"
#include "gpu/nets/layers/device_rows.h"
#include "gpu/nets/layers/format.h"
#include "gpu/nets/layers/onednn.h"

namespace navtalk::nets {
namespace {

using Algorithm = std::optional<std::string_view>;
using ConvPointwise = at::Tensor(const at::Tensor& x, const at::Tensor& w,
                                 const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                                 at::IntArrayRef stride, at::IntArrayRef dilation,
                                 std::int64_t groups, std::string_view attribute, Scalars scalars,
                                 Algorithm algorithm);
using ConvBinary = at::Tensor(const at::Tensor& x, const at::Tensor& other, const at::Tensor& w,
                              const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                              at::IntArrayRef stride, at::IntArrayRef dilation, std::int64_t groups,
                              std::string_view binary, std::optional<at::Scalar> alpha,
                              Algorithm unary, Scalars scalars, Algorithm algorithm);
using BinaryInPlace = at::Tensor&(at::Tensor& other, const at::Tensor& x, const at::Tensor& w,
                                  const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                                  at::IntArrayRef stride, at::IntArrayRef dilation,
                                  std::int64_t groups, std::string_view binary,
                                  std::optional<at::Scalar> alpha, Algorithm unary, Scalars scalars,
                                  Algorithm algorithm);

constexpr std::array<std::int64_t, 2> k_dilation{1, 1};

// [Cout,Cin,3,3] to [4*Cout,Cin,2,2], phase-major: an even output pixel sees the small pixels i-1
// and i with taps w0 and w1+w2, an odd one i and i+1 with w0+w1 and w2; on both axes.
at::Tensor phase_weights(const at::Tensor& weight) {
  const auto fold = [](const at::Tensor& w, std::int64_t axis, std::int64_t phase) {
    const auto tap = [&](std::int64_t i) { return w.select(axis, i); };
    return phase == 0 ? at::stack({tap(0), tap(1) + tap(2)}, axis)
                      : at::stack({tap(0) + tap(1), tap(2)}, axis);
  };
  std::vector<at::Tensor> phases;
  for (std::int64_t py = 0; py < 2; ++py)
    for (std::int64_t px = 0; px < 2; ++px) phases.push_back(fold(fold(weight, 2, py), 3, px));
  return at::cat(phases, 0);
}

// As kernels::interleave_phases(), with libtorch's operators.
void interleave(const at::Tensor& phases, at::Tensor& y) {
  const std::int64_t channels = y.size(1), h = y.size(2) / 2, w = y.size(3) / 2;
  for (std::int64_t py = 0; py < 2; ++py)
    for (std::int64_t px = 0; px < 2; ++px)
      y.slice(2, py, std::nullopt, 2)
          .slice(3, px, std::nullopt, 2)
          .copy_(phases.narrow(1, (2 * py + px) * channels, channels)
                     .narrow(2, py, h)
                     .narrow(3, px, w));
}

// Parts of the input channels, so that each output is a sum of sums of at most k_terms products;
// past k_most parts their passes over the output would cost more than they gain.
std::int64_t parts(const at::Tensor& weight) {
  constexpr std::int64_t k_terms = 288;  // 32 channels under a 3x3 kernel
  constexpr std::int64_t k_most = 16;
  const std::int64_t terms = weight.size(1) * weight.size(2) * weight.size(3);
  return std::min({weight.size(1), k_most, (terms + k_terms - 1) / k_terms});
}

// Whether the zeros at the edges keep the map's size but for the stride, as Winograd's kernels need it.
bool keeps_size(const at::Tensor& weight, const Conv::Geometry& geometry) {
  const std::array<std::int64_t, 2> around{weight.size(2) / 2, weight.size(3) / 2};
  return geometry.padding == around;
}

std::string_view library_name(Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return "relu";
    case Activation::silu:
      return "swish";
  }
  return "none";
}

}  // namespace

Conv::Conv(const at::Tensor& weight, const at::Tensor& bias, const Geometry& geometry,
           const Placement& place)
    : stride_{geometry.stride, geometry.stride},
      padding_(geometry.padding),
      groups_(geometry.groups),
      activation_(geometry.activation),
      on_device_(place.device_kernels),
      is_product_(weight.size(2) * weight.size(3) == 1 && geometry.stride == 1 &&
                  geometry.padding == std::array<std::int64_t, 2>{} && geometry.groups == 1) {
  NAVTALK_CHECK(bias.defined() || on_device_);
  if (bias.defined()) bias_ = (on_device_ ? place.in(at::kFloat) : place).place(bias);
  if (!place.packed) {
    weight_ = StoredWeight(weight, place, at::MemoryFormat::ChannelsLast);
    return;
  }
  if (keeps_size(weight, geometry) && groups_ == 1) {
    winograd_ = Winograd::make(
        geometry.kernel, weight, bias,
        {.stride = geometry.stride, .map_size = geometry.map_size, .activation = activation_},
        place);
    if (winograd_) return;
  }
  if (takes_direct(weight.size(1), place) && groups_ == 1) {
    direct_.emplace(kernels::DirectConv::Shape{.in = weight.size(1),
                                               .out = weight.size(0),
                                               .rows = weight.size(2),
                                               .columns = weight.size(3),
                                               .stride = geometry.stride,
                                               .row_padding = padding_[0],
                                               .column_padding = padding_[1]},
                    weight.contiguous().const_data_ptr<float>(),
                    bias.contiguous().const_data_ptr<float>(), activation_);
    return;
  }
  if (keeps_size(weight, geometry) && groups_ == weight.size(0) &&
      takes_depthwise(weight, geometry.stride, place)) {
    depthwise_.emplace(weight.contiguous().const_data_ptr<float>(),
                       bias.contiguous().const_data_ptr<float>(), groups_, weight.size(2),
                       activation_);
    return;
  }
  const std::int64_t channels = weight.size(1);
  const bool split = geometry.split_sums && place.type == at::kFloat && groups_ == 1;
  const std::int64_t count = split ? parts(weight) : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = channels * i / count, width = channels * (i + 1) / count - first;
    const std::array<std::int64_t, 4> input{1, groups_ * width, geometry.map_size[0],
                                            geometry.map_size[1]};
    const at::Tensor own = weight.narrow(1, first, width).to(place.type).contiguous();
    parts_.push_back({at::mkldnn_reorder_conv2d_weight(own.to_mkldnn(), padding_, stride_,
                                                       k_dilation, groups_, at::IntArrayRef(input)),
                      first, width});
  }
}

at::Tensor Conv::input_of(const Part& part, const at::Tensor& x) const {
  return parts_.size() == 1 ? x : x.narrow(1, part.first_channel, part.channels);
}

void Conv::add_part(std::size_t i, at::Tensor& sum, const at::Tensor& x) const {
  static const auto op = find_operator<BinaryInPlace>("mkldnn::_convolution_pointwise_", "binary");
  op.call(sum, input_of(parts_[i], x), parts_[i].weight,
          i == 0 ? std::optional(bias_) : std::nullopt, padding_, stride_, k_dilation, groups_,
          "add", std::nullopt, std::nullopt, Scalars(), std::nullopt);
}

at::Tensor Conv::by_library(const at::Tensor& x) const {
  const std::optional<at::Tensor> bias = on_device_ ? std::nullopt : std::optional(bias_);
  return at::conv2d(x, weight_.get(), bias, stride_, padding_, k_dilation, groups_);
}

at::Tensor Conv::own(const at::Tensor& x, const at::Tensor* add) const {
  if (winograd_) return (*winograd_)(x.contiguous(at::MemoryFormat::ChannelsLast), {.add = add});
  at::Tensor y = room_for(x);
  own(x, add, y);
  return y;
}

at::Tensor Conv::room_for(const at::Tensor& x) const {
  const std::int64_t rows = direct_ ? direct_->shape.rows_for(x.size(2)) : x.size(2);
  const std::int64_t columns = direct_ ? direct_->shape.columns_for(x.size(3)) : x.size(3);
  return at::empty({x.size(0), bias_.size(0), rows, columns}, x.options(),
                   at::MemoryFormat::ChannelsLast);
}

void Conv::own(const at::Tensor& x, const at::Tensor* add, at::Tensor& y) const {
  const at::Tensor whole = x.contiguous(at::MemoryFormat::ChannelsLast);
  if (winograd_) return (*winograd_)(whole, {.add = add}, y);
  if (depthwise_) {
    kernels::depthwise_conv(*depthwise_,
                            {.x = whole.const_data_ptr<float>(),
                             .y = y.mutable_data_ptr<float>(),
                             .add = add != nullptr ? add->const_data_ptr<float>() : nullptr,
                             .images = x.size(0),
                             .height = x.size(2),
                             .width = x.size(3)});
    return;
  }
  kernels::direct_conv(*direct_, {.x = whole.const_data_ptr<float>(),
                                  .y = y.mutable_data_ptr<float>(),
                                  .add = add != nullptr ? add->const_data_ptr<float>() : nullptr,
                                  .images = x.size(0),
                                  .height = x.size(2),
                                  .width = x.size(3)});
}

at::Tensor& Conv::activate(at::Tensor& sum) const {
  switch (activation_) {
    case Activation::none:
      break;
    case Activation::relu:
      return sum.relu_();
    case Activation::silu:
      return at::silu_(sum);
  }
  return sum;
}

at::Tensor Conv::operator()(const at::Tensor& x) const {
  if (is_own()) return own(x, nullptr);
  at::Tensor sum;
  if (weight_.defined()) {
    sum = by_library(x);
    if (on_device_) add_on_device(sum, {}, bias_);
    return activate(sum);
  }
  const bool whole = parts_.size() == 1;
  static const auto op = find_operator<ConvPointwise>("mkldnn::_convolution_pointwise", "");
  sum = op.call(input_of(parts_[0], x), parts_[0].weight, bias_, padding_, stride_, k_dilation,
                groups_, whole ? library_name(activation_) : "none", Scalars(), "");
  if (whole) return sum;
  for (std::size_t i = 1; i < parts_.size(); ++i) add_part(i, sum, x);
  return activate(sum);
}

at::Tensor Conv::plus(const at::Tensor& x, const at::Tensor& other) const {
  if (is_own()) return own(x, &other);
  at::Tensor sum;
  if (weight_.defined()) {
    sum = by_library(x);
    on_device_ ? add_on_device(sum, other, bias_) : static_cast<void>(sum.add_(other));
    return activate(sum);
  }
  static const auto op = find_operator<ConvBinary>("mkldnn::_convolution_pointwise", "binary");
  sum = op.call(input_of(parts_[0], x), other, parts_[0].weight, bias_, padding_, stride_,
                k_dilation, groups_, "add", std::nullopt, std::nullopt, Scalars(), std::nullopt);
  for (std::size_t i = 1; i < parts_.size(); ++i) add_part(i, sum, x);
  return activate(sum);
}

at::Tensor Conv::then_plus(const at::Tensor& x, const at::Tensor& other) const {
  if (!direct_) return (*this)(x).add_(other);
  const at::Tensor whole = x.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor after = other.contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor y = room_for(x);
  kernels::direct_conv(*direct_, {.x = whole.const_data_ptr<float>(),
                                  .y = y.mutable_data_ptr<float>(),
                                  .after = after.const_data_ptr<float>(),
                                  .images = x.size(0),
                                  .height = x.size(2),
                                  .width = x.size(3)});
  return y;
}

// Within the product, in the sum's own memory.
void Conv::add_product_to(at::Tensor& sum, const at::Tensor& x) const {
  const at::Tensor weight = weight_.get().flatten(1);
  const auto rows = [](const at::Tensor& map) { return map.permute({0, 2, 3, 1}).flatten(0, 2); };
  at::Tensor into = rows(sum);
  into.addmm_(rows(x), weight.t());
}

void Conv::add_to(at::Tensor& sum, const at::Tensor& x) const {
  NAVTALK_CHECK(activation_ == Activation::none);
  const bool within = sum.is_contiguous(at::MemoryFormat::ChannelsLast);
  if (on_device_ && is_product_ && !bias_.defined() && within) return add_product_to(sum, x);
  if (is_own()) return own(x, &sum, sum);
  if (weight_.defined())
    on_device_ ? add_to_on_device(sum, by_library(x), bias_)
               : static_cast<void>(sum.add_(by_library(x)));
  for (std::size_t i = 0; i < parts_.size(); ++i) add_part(i, sum, x);
}

UpConv::UpConv(const at::Tensor& weight, const at::Tensor& bias, std::int64_t map_size,
               const Placement& place, ConvKernel kernel)
    : channels_(weight.size(0)),
      packed_(place.packed),
      winograd_(doubling_winograd(kernel, weight, bias, place)) {
  if (winograd_) return;
  if (place.device_kernels) device_bias_ = place.in(at::kFloat).place(bias);
  phases_.emplace(phase_weights(weight), place.device_kernels ? at::Tensor() : bias.repeat({4}),
                  Conv::Geometry{.stride = 1, .padding = {1, 1}, .map_size = {map_size, map_size}},
                  place);
}

at::Tensor UpConv::operator()(const at::Tensor& x) const {
  if (device_bias_.defined()) return interleave_on_device((*phases_)(x), device_bias_);
  at::Tensor y = at::empty({x.size(0), channels_, 2 * x.size(2), 2 * x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  if (winograd_) {
    kernels::winograd_conv(*winograd_, {.x = x.const_data_ptr(),
                                        .y = y.mutable_data_ptr(),
                                        .images = x.size(0),
                                        .height = x.size(2),
                                        .width = x.size(3)});
    return y;
  }
  const at::Tensor phases = (*phases_)(x);
  if (!packed_) {
    interleave(phases, y);
    return y;
  }
  kernels::interleave_phases(phases.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.size(0),
                             x.size(2), x.size(3), channels_);
  return y;
}

}  // namespace navtalk::nets
