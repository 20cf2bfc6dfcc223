// The UNet's transformer block: self-attention, attention to the audio, gated feed-forward, between
// two 1x1 projections.
#pragma once

#include "gpu/nets/layers/linear.h"
#include "gpu/nets/layers/norm.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class Transformer {
 public:
  Transformer(const Weights& weights, std::int64_t heads, std::int64_t groups,
              std::int64_t map_size, const Placement& place);

  // x is a map, and may be overwritten; keys and values [N,T,C] are this block's projection of the audio.
  at::Tensor operator()(at::Tensor x, const at::Tensor& keys, const at::Tensor& values) const;

 private:
  Transformer(const Weights& weights, const Weights& block, std::int64_t heads, std::int64_t groups,
              std::int64_t rows, const Placement& place);
  at::Tensor on_device(at::Tensor x, const at::Tensor& keys, const at::Tensor& values) const;

  std::int64_t heads_;
  GroupNorm norm_;
  Linear proj_in_;
  LayerNorm norm1_, norm2_, norm3_;
  Linear self_, self_out_;  // queries, keys and values in one product
  Linear query_, cross_out_;
  Linear gate_, ff_out_;
  Linear proj_out_;
  at::Tensor last_bias_;  // defined: on_device()
};

}  // namespace navtalk::nets
