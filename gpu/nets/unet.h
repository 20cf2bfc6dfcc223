// MuseTalk's UNet at t = 0: one pass from the avatar's latent and the audio to the talking latent.
// Stages and names follow diffusers' UNet2DConditionModel; `musetalk.json` sets the sizes.
#pragma once

#include <memory>

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/linear.h"
#include "gpu/nets/layers/norm.h"
#include "gpu/nets/net_config.h"
#include "gpu/nets/resnet.h"
#include "gpu/nets/transformer.h"

namespace navtalk::nets {

class Unet {
 public:
  Unet(const Weights& weights, const UnetConfig& config, const Placement& place);

  // Latent [B,in,32,32] and context [B,T,D], fp32, the context after the positional table, to
  // [B,out,32,32] in the net's type.
  at::Tensor operator()(const at::Tensor& latent, const at::Tensor& context) const;

 private:
  // A residual block and, in all but the smallest maps, its transformer.
  struct Layer {
    Resnet resnet;
    std::optional<Transformer> transformer;
    std::int64_t audio_offset = 0;  // of its keys in the common projection
    std::int64_t width = 0;
  };
  struct Down {
    std::vector<Layer> layers;
    std::optional<Conv> downsampler;
  };
  struct Up {
    std::vector<Layer> layers;
    std::optional<UpConv> upsampler;
  };
  class Builder;

  static at::Tensor attend(const Layer& layer, at::Tensor h, const at::Tensor& audio);

  at::ScalarType type_;
  std::vector<Down> downs_;
  std::vector<Layer> mid_;  // the second one has no transformer
  std::vector<Up> ups_;
  std::unique_ptr<Conv> conv_in_, conv_out_;
  std::unique_ptr<GroupNorm> norm_out_;
  std::unique_ptr<Linear> audio_;  // all keys and values of all blocks in one product
};

}  // namespace navtalk::nets
