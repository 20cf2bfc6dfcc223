// Norm, SiLU and 3x3 convolution as one layer, so that our own kernels do the three in one pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "gpu/kernels/conv/output_conv.h"
#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/norm.h"
#include "gpu/nets/layers/winograd.h"
#include "gpu/nets/placement.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

// GroupNorm, SiLU and a 3x3 convolution: with Winograd the three are one pass over the map.
class NormConv {
 public:
  struct Options {
    std::int64_t map_size = 32, groups = 32;
    float eps = 1e-5F;
    NormKernel norm = NormKernel::own;
    ConvKernel conv = ConvKernel::library;
    at::Tensor bias = {};  // of the norm's input; see GroupNorm
  };
  NormConv(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
           const Options& options, const Placement& place);

  at::Tensor operator()(const at::Tensor& x) const;
  // Of the concatenation of two maps on the channel axis.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& skip) const;
  // These may overwrite x.
  at::Tensor consume(at::Tensor x) const;
  at::Tensor plus(at::Tensor x, const at::Tensor& other) const;  // other + this(x)
  void add_to(at::Tensor& sum, at::Tensor x) const;              // sum += this(x)

 private:
  GroupNorm norm_;
  std::optional<Conv> conv_;
  std::optional<Winograd> winograd_;  // instead of conv_
};

// The decoder's last norm, SiLU and 3x3 convolution, to three channels.
class OutputConv {
 public:
  OutputConv(const Weights& norm, const at::Tensor& weight, const at::Tensor& bias,
             const NormConv::Options& options, const Placement& place);
  // May overwrite x. [N,3,H,W] in fp32 or the net's type, with room between the pixels.
  at::Tensor operator()(at::Tensor x) const;

 private:
  GroupNorm norm_;
  std::optional<Conv> conv_;
  std::optional<kernels::OutputConv> own_;  // instead of conv_
};

}  // namespace navtalk::nets
