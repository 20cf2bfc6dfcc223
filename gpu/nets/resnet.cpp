#include "gpu/nets/resnet.h"

#include <ATen/ATen.h>

#include <utility>

namespace navtalk::nets {
namespace {

// t = 0 always, so the time embedding is a constant that the first convolution's bias absorbs.
at::Tensor first_bias(const Weights& weights, const at::Tensor& time) {
  at::Tensor bias = weights("conv1.bias");
  if (!time.defined()) return bias;
  return bias + at::linear(time, weights("time_emb_proj.weight"), weights("time_emb_proj.bias"));
}

NormConv::Options options(const Resnet::Shape& shape, const at::Tensor& bias = {}) {
  return {.map_size = shape.map_size,
          .groups = shape.groups,
          .eps = shape.eps,
          .norm = shape.norms,
          .conv = shape.convs,
          .bias = bias};
}

// On a device a convolution's bias is added by the next kernel that reads its result: the first one's by the second norm, the shortcut's
// with the sum.
bool defers_biases(const Placement& place) { return place.device_kernels; }
at::Tensor second_bias(const Weights& weights, const Placement& place) {
  const at::Tensor bias = weights("conv2.bias"), w = weights("conv1.weight");
  return defers_biases(place) && w.size(0) != w.size(1) ? bias + weights("conv_shortcut.bias")
                                                        : bias;
}

}  // namespace

Resnet::Resnet(const Weights& weights, const Shape& shape, const Placement& place)
    : first_(weights.in("norm1"), weights("conv1.weight"),
             defers_biases(place) ? at::Tensor() : first_bias(weights, shape.time), options(shape),
             place),
      second_(weights.in("norm2"), weights("conv2.weight"), second_bias(weights, place),
              options(shape, defers_biases(place) ? first_bias(weights, shape.time) : at::Tensor()),
              place) {
  const at::Tensor w = weights("conv1.weight");
  if (w.size(0) == w.size(1)) return;
  const Conv::Geometry point{.padding = {0, 0}, .map_size = {shape.map_size, shape.map_size}};
  const at::Tensor shortcut = weights("conv_shortcut.weight");
  const std::int64_t own = w.size(1) - shape.skip_channels;
  shortcut_.emplace(shortcut.narrow(1, 0, own),
                    defers_biases(place) ? at::Tensor() : weights("conv_shortcut.bias"), point,
                    place);
  if (shape.skip_channels > 0)
    skip_shortcut_.emplace(shortcut.narrow(1, own, shape.skip_channels),
                           defers_biases(place) ? at::Tensor() : at::zeros({w.size(0)}), point,
                           place);
}

at::Tensor Resnet::operator()(const at::Tensor& x) const {
  at::Tensor h = first_(x);
  if (!shortcut_) return second_.plus(std::move(h), x);
  at::Tensor y = (*shortcut_)(x);
  second_.add_to(y, std::move(h));
  return y;
}

at::Tensor Resnet::consume(at::Tensor x) const {
  if (shortcut_) return (*this)(x);
  second_.add_to(x, first_(x));
  return x;
}

at::Tensor Resnet::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  at::Tensor h = first_(x, skip);
  at::Tensor y = (*shortcut_)(x);
  skip_shortcut_->add_to(y, skip);
  second_.add_to(y, std::move(h));
  return y;
}

}  // namespace navtalk::nets
