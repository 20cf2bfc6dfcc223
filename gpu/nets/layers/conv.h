// Convolutions of maps, which are [N,C,H,W] tensors in channels_last memory. Weights are packed when
// a layer is made; layers are immutable after that. Accumulation is fp32, whatever the placement's type is.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/kernels/conv/depthwise_conv.h"
#include "gpu/kernels/conv/direct_conv.h"
#include "gpu/kernels/winograd/winograd_conv.h"
#include "gpu/nets/layers/stored_weight.h"
#include "gpu/nets/layers/winograd.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

using kernels::Activation;  // what is applied to each result

class Conv {
 public:
  struct Geometry {
    std::int64_t stride = 1;
    std::array<std::int64_t, 2> padding{1, 1};     // rows, columns
    std::array<std::int64_t, 2> map_size{32, 32};  // of the input: a hint for the packing
    std::int64_t groups = 1;                       // of channels that do not see each other
    Activation activation = Activation::none;
    ConvKernel kernel = ConvKernel::library;  // of kernels that Winograd's algorithm can take
    // fp32: false leaves sums over many products to the library, in one chain each, which is faster and less exact.
    bool split_sums = true;
  };
  // `bias` may be undefined with device_kernels only.
  Conv(const at::Tensor& weight, const at::Tensor& bias, const Geometry& geometry,
       const Placement& place);

  at::Tensor operator()(const at::Tensor& x) const;
  // The same of conv(x) + other, in one pass: `other` is added before the activation.
  at::Tensor plus(const at::Tensor& x, const at::Tensor& other) const;
  // (*this)(x) + other: it is added after the activation.
  at::Tensor then_plus(const at::Tensor& x, const at::Tensor& other) const;
  // sum += conv(x); not with an activation.
  void add_to(at::Tensor& sum, const at::Tensor& x) const;

 private:
  // fp32 sums over many input channels are made of shorter ones, a part of the channels each: one
  // long chain of additions loses several times as much as the reference's kernels do.
  struct Part {
    at::Tensor weight;
    std::int64_t first_channel = 0, channels = 0;
  };
  at::Tensor input_of(const Part& part, const at::Tensor& x) const;
  void add_part(std::size_t i, at::Tensor& sum, const at::Tensor& x) const;
  at::Tensor by_library(const at::Tensor& x) const;
  void add_product_to(at::Tensor& sum, const at::Tensor& x) const;
  bool is_own() const { return winograd_ || direct_ || depthwise_; }
  at::Tensor own(const at::Tensor& x, const at::Tensor* add) const;
  void own(const at::Tensor& x, const at::Tensor* add, at::Tensor& y) const;
  at::Tensor room_for(const at::Tensor& x) const;  // for what `direct_` or `depthwise_` make of x
  at::Tensor& activate(at::Tensor& sum) const;

  std::vector<Part> parts_;
  std::optional<Winograd> winograd_;                 // instead of parts_
  std::optional<kernels::DirectConv> direct_;        // instead of both
  std::optional<kernels::DepthwiseConv> depthwise_;  // instead of all three
  StoredWeight weight_;  // of libtorch's own operator, instead of parts_
  at::Tensor bias_;      // the first part adds it; in fp32 with device_kernels
  std::array<std::int64_t, 2> stride_, padding_;
  std::int64_t groups_;
  Activation activation_;
  bool on_device_;   // our kernel adds the bias
  bool is_product_;  // of matrices: a 1x1 kernel
};

// Nearest-neighbour doubling followed by a 3x3 convolution, as one 2x2 convolution on the small map
// that makes all four phases of the large one: 4/9 of the multiplications, the same sum.
class UpConv {
 public:
  UpConv(const at::Tensor& weight, const at::Tensor& bias, std::int64_t map_size,
         const Placement& place, ConvKernel kernel = ConvKernel::library);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  std::int64_t channels_;
  bool packed_;
  at::Tensor device_bias_;  // defined: our kernel adds it and puts the phases together
  std::optional<Conv> phases_;
  std::optional<kernels::WinogradConv> winograd_;  // instead of phases_
};

}  // namespace navtalk::nets
