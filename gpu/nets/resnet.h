// The residual block of the UNet and the VAE: norm, SiLU, 3x3, norm, SiLU, 3x3, plus the input,
// through a 1x1 where the width changes.
#pragma once

#include <optional>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/norm_conv.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class Resnet {
 public:
  struct Shape {
    std::int64_t map_size = 32, groups = 32;
    float eps = 1e-5F;
    std::int64_t skip_channels = 0;  // of the second input, which is joined behind the first
    NormKernel norms = NormKernel::own;
    ConvKernel convs = ConvKernel::library;
    at::Tensor time = {};  // SiLU of the time embedding; undefined: the block has none
  };
  Resnet(const Weights& weights, const Shape& shape, const Placement& place);

  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& skip) const;
  // Of a map that nobody needs any more: the sum goes into its memory where the width stays.
  at::Tensor consume(at::Tensor x) const;

 private:
  NormConv first_;  // its bias holds the projected time embedding
  NormConv second_;
  std::optional<Conv> shortcut_, skip_shortcut_;
};

}  // namespace navtalk::nets
