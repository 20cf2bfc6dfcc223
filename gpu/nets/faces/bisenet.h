// BiSeNet with a ResNet-18 backbone, as MuseTalk uses it to tell the parts of a face apart. Names follow
// MuseTalk's modules; batch norms are folded into the convolutions before them. Computes in fp32.
#pragma once

#include <optional>
#include <vector>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/net_config.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class Bisenet {
 public:
  Bisenet(const Weights& weights, const BisenetConfig& config, const Placement& place = at::kFloat);

  // fp32 [B,3,512,512], RGB normalised as ImageNet's -> fp32 [B,19,64,64], one score a class at an eighth of the size: MuseTalk's
  // module ends with their enlargement (kernels::enlarge_planes()). Sides are multiples of 32.
  at::Tensor operator()(const at::Tensor& image) const;

 private:
  struct Block {
    Conv first, second;
    std::optional<Conv> shortcut;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  // A layer on the mean of a map: [B,C] to [B,C'].
  struct Dense {
    at::Tensor weight, bias;  // no bias where there is none
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Refinement {
    Conv conv;
    Dense gate;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  class Builder;
  Bisenet(const Builder& build, const BisenetConfig& config);

  Placement place_;
  Conv stem_;
  std::vector<std::vector<Block>> stages_;
  Refinement refine16_, refine32_;
  Dense average_;
  UpConv head32_, head16_;
  Conv fuse_;
  Dense squeeze_, expand_;
  Conv out_, classes_;
};

}  // namespace navtalk::nets
