// RTMPose for whole bodies (a CSPNeXt backbone and a SimCC head), as DWPose trained it and MuseTalk uses it
// to find the landmarks of a face. Names follow mmpose's modules; batch norms are folded into the convolutions before them.
// Sums are fp32, whatever the placement's type is, and so is the head behind its convolution.
#pragma once

#include <optional>
#include <vector>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/linear.h"
#include "gpu/nets/net_config.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class Dwpose {
 public:
  Dwpose(const Weights& weights, const DwposeConfig& config, const Placement& place = at::kFloat);

  // Scores of the bins across and down.
  struct Bins {
    at::Tensor x, y;  // [B,133,576], [B,133,768]
  };
  // fp32 [B,3,384,288], RGB normalised as ImageNet's -> fp32.
  Bins operator()(const at::Tensor& image) const;

 private:
  struct Block {
    Conv first, depthwise, pointwise;
  };
  // Half of the channels pass the blocks, half pass by; the attention weighs both.
  struct Stage {
    Conv main, beside, end;
    std::vector<Block> blocks;
    at::Tensor gate_weight, gate_bias;
    bool residual;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  // The largest of 5x5, 9x9 and 13x13 neighbours beside the map itself.
  struct Pooling {
    Conv before, after;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Head {
    Conv maps;  // of `points` points, and of some that mean nothing
    std::int64_t points;
    at::Tensor map_scale, token_scale, gamma, beta, residual_scale;
    Linear mlp, uv, out, bins_x, bins_y;
    std::int64_t expanded, attention;
    Bins operator()(const at::Tensor& features) const;
  };
  class Builder;
  Dwpose(const Builder& build, const DwposeConfig& config);

  Placement place_;
  std::vector<Conv> stem_;      // this and all but the head's: with their norms, then SiLU
  std::vector<Conv> halvings_;  // before each stage
  std::vector<Stage> stages_;
  Pooling pooling_;
  Head head_;
};

}  // namespace navtalk::nets
