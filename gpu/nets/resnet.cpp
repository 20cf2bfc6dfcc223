#include "gpu/nets/resnet.h"

#include <ATen/ATen.h>

namespace navtalk::nets {
namespace {

// t = 0 always, so the time embedding is a constant that the first convolution's bias absorbs.
at::Tensor first_bias(const Weights& weights, const at::Tensor& time) {
  at::Tensor bias = weights("conv1.bias");
  if (!time.defined()) return bias;
  return bias + at::linear(time, weights("time_emb_proj.weight"), weights("time_emb_proj.bias"));
}

}  // namespace

Resnet::Resnet(const Weights& weights, const Shape& shape, at::ScalarType type)
    : norm1_(weights.in("norm1"), shape.groups, shape.eps, true, shape.norms),
      conv1_(weights("conv1.weight"), first_bias(weights, shape.time),
             {.map_size = {shape.map_size, shape.map_size}}, type),
      norm2_(weights.in("norm2"), shape.groups, shape.eps, true, shape.norms),
      conv2_(weights("conv2.weight"), weights("conv2.bias"),
             {.map_size = {shape.map_size, shape.map_size}}, type) {
  const at::Tensor w = weights("conv1.weight");
  if (w.size(0) == w.size(1)) return;
  const Conv::Geometry point{.padding = {0, 0}, .map_size = {shape.map_size, shape.map_size}};
  const at::Tensor shortcut = weights("conv_shortcut.weight");
  const std::int64_t own = w.size(1) - shape.skip_channels;
  shortcut_.emplace(shortcut.narrow(1, 0, own), weights("conv_shortcut.bias"), point, type);
  if (shape.skip_channels > 0)
    skip_shortcut_.emplace(shortcut.narrow(1, own, shape.skip_channels), at::zeros({w.size(0)}),
                           point, type);
}

at::Tensor Resnet::inner(at::Tensor normed) const {
  at::Tensor h = conv1_(normed);
  norm2_.in_place(h);
  return h;
}

at::Tensor Resnet::operator()(const at::Tensor& x) const {
  const at::Tensor h = inner(norm1_(x));
  if (!shortcut_) return conv2_.plus(h, x);
  at::Tensor y = (*shortcut_)(x);
  conv2_.add_to(y, h);
  return y;
}

at::Tensor Resnet::consume(at::Tensor x) const {
  if (shortcut_) return (*this)(x);
  conv2_.add_to(x, inner(norm1_(x)));
  return x;
}

at::Tensor Resnet::operator()(const at::Tensor& x, const at::Tensor& skip) const {
  const at::Tensor h = inner(norm1_(x, skip));
  at::Tensor y = (*shortcut_)(x);
  skip_shortcut_->add_to(y, skip);
  conv2_.add_to(y, h);
  return y;
}

}  // namespace navtalk::nets
