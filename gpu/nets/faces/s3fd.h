// S3FD: VGG with heads at six scales, which MuseTalk asks whether a frame shows a face. Names follow the
// original module. Computes in fp32.
#pragma once

#include <optional>
#include <vector>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

class S3fd {
 public:
  explicit S3fd(const Weights& weights, const Placement& place = at::kFloat);

  // fp32 [B,3,H,W], R-104, G-117, B-123 of 8 bits; H and W at least 32 -> six fp32 maps [B,6,h,w] for cells of 4, 8, 16, 32, 64 and
  // 128 pixels: scores of background and face, then the four numbers of a box.
  std::vector<at::Tensor> operator()(const at::Tensor& image) const;

 private:
  // What one scale is made of; the three finest are normalised over their channels first.
  struct Scale {
    Conv heads;
    std::optional<at::Tensor> norm;
    bool three_backgrounds;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  class Builder;
  explicit S3fd(const Builder& build);

  Placement place_;
  std::vector<std::vector<Conv>> blocks_;
  std::vector<Conv> dense_, sixth_, seventh_;
  std::vector<Scale> scales_;
};

}  // namespace navtalk::nets
