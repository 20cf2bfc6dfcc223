// Convolutions through oneDNN with weights packed once. libtorch registers the operators for its
// compiler; C++ reaches them through the dispatcher.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "gpu/kernels/maps.h"
#include "gpu/nets/layers.h"

namespace navtalk::nets {
namespace {

using Scalars = at::List<std::optional<at::Scalar>>;
using Algorithm = std::optional<std::string_view>;
using Pointwise = at::Tensor(const at::Tensor& x, const at::Tensor& w,
                             const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                             at::IntArrayRef stride, at::IntArrayRef dilation, std::int64_t groups,
                             std::string_view attribute, Scalars scalars, Algorithm algorithm);
using Binary = at::Tensor(const at::Tensor& x, const at::Tensor& other, const at::Tensor& w,
                          const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                          at::IntArrayRef stride, at::IntArrayRef dilation, std::int64_t groups,
                          std::string_view binary, std::optional<at::Scalar> alpha, Algorithm unary,
                          Scalars scalars, Algorithm algorithm);
using BinaryInPlace = at::Tensor&(at::Tensor& other, const at::Tensor& x, const at::Tensor& w,
                                  const std::optional<at::Tensor>& b, at::IntArrayRef padding,
                                  at::IntArrayRef stride, at::IntArrayRef dilation,
                                  std::int64_t groups, std::string_view binary,
                                  std::optional<at::Scalar> alpha, Algorithm unary, Scalars scalars,
                                  Algorithm algorithm);

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

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

}  // namespace

Conv::Conv(const at::Tensor& weight, const at::Tensor& bias, const Geometry& geometry,
           at::ScalarType type)
    : bias_(bias.to(type).contiguous()),
      stride_{geometry.stride, geometry.stride},
      padding_(geometry.padding) {
  const std::array<std::int64_t, 4> input{1, weight.size(1), geometry.map_size[0],
                                          geometry.map_size[1]};
  weight_ = at::mkldnn_reorder_conv2d_weight(weight.to(type).contiguous().to_mkldnn(), padding_,
                                             stride_, k_dilation, 1, at::IntArrayRef(input));
}

at::Tensor Conv::operator()(const at::Tensor& x) const {
  static const auto op = find<Pointwise>("mkldnn::_convolution_pointwise", "");
  return op.call(x, weight_, bias_, padding_, stride_, k_dilation, 1, "none", Scalars(), "");
}

at::Tensor Conv::plus(const at::Tensor& x, const at::Tensor& other) const {
  static const auto op = find<Binary>("mkldnn::_convolution_pointwise", "binary");
  return op.call(x, other, weight_, bias_, padding_, stride_, k_dilation, 1, "add", std::nullopt,
                 std::nullopt, Scalars(), std::nullopt);
}

void Conv::add_to(at::Tensor& sum, const at::Tensor& x) const {
  static const auto op = find<BinaryInPlace>("mkldnn::_convolution_pointwise_", "binary");
  op.call(sum, x, weight_, bias_, padding_, stride_, k_dilation, 1, "add", std::nullopt,
          std::nullopt, Scalars(), std::nullopt);
}

UpConv::UpConv(const at::Tensor& weight, const at::Tensor& bias, std::int64_t map_size,
               at::ScalarType type)
    : channels_(weight.size(0)),
      phases_(phase_weights(weight), bias.repeat({4}),
              {.stride = 1, .padding = {1, 1}, .map_size = {map_size, map_size}}, type) {}

at::Tensor UpConv::operator()(const at::Tensor& x) const {
  const at::Tensor phases = phases_(x);
  at::Tensor y = at::empty({x.size(0), channels_, 2 * x.size(2), 2 * x.size(3)}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  kernels::interleave_phases(phases.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.size(0),
                             x.size(2), x.size(3), channels_);
  return y;
}

}  // namespace navtalk::nets
