// Whisper's audio encoder with the hidden states of every layer.
#pragma once

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/linear.h"
#include "gpu/nets/layers/norm.h"
#include "gpu/nets/net_config.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class Whisper {
 public:
  Whisper(const Weights& weights, const WhisperConfig& config, const Placement& place);
  // Log-mel [S,80,2n], fp32, of n tokens, 1500 at most -> [S,count,L+1,D], fp32: the state before each
  // layer, then the last one normed, of the tokens from `first` on. The last layer is computed for
  // those only.
  at::Tensor operator()(const at::Tensor& mel, std::int64_t first, std::int64_t count) const;

 private:
  struct Layer {
    LayerNorm attention_norm;
    Linear qkv, out;
    LayerNorm norm;
    Linear fc1, fc2;
  };
  static Layer layer(const Weights& weights, const WhisperConfig& config, const Placement& place);

  at::ScalarType type_;
  std::int64_t heads_;
  Conv conv1_, conv2_;  // over [N,80,1,3000]: a map one row high
  at::Tensor positions_;
  std::vector<Layer> layers_;
  LayerNorm norm_;
};

}  // namespace navtalk::nets
