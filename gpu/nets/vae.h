// The autoencoder's two halves, after diffusers' AutoencoderKL; `sd-vae/config.json` sets the
// sizes. Every GroupNorm has eps 1e-6.
#pragma once

#include "gpu/nets/layers/conv.h"
#include "gpu/nets/layers/linear.h"
#include "gpu/nets/layers/norm.h"
#include "gpu/nets/layers/norm_conv.h"
#include "gpu/nets/net_config.h"
#include "gpu/nets/resnet.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

// Residual, attention with one head over all pixels, residual.
class VaeMiddle {
 public:
  VaeMiddle(const Weights& weights, std::int64_t groups, std::int64_t map_size,
            const Placement& place, NormKernel norms_behind_attention,
            ConvKernel convs = ConvKernel::library);
  at::Tensor operator()(const at::Tensor& x) const;  // overwrites x

 private:
  Resnet first_;
  GroupNorm norm_;
  Linear qkv_, out_;
  Resnet second_;
};

class VaeDecoder {
 public:
  // `norms`: of what follows the attention. There the reference goes on in channels_last when it
  // decodes several latents at once, and only then: the library's kernel rounds as it does.
  VaeDecoder(const Weights& weights, const VaeConfig& config, const Placement& place,
             NormKernel norms = NormKernel::own);
  // [B,4,32,32], still scaled -> [B,3,256,256], RGB in about [-1,1], in fp32 or the net's type.
  at::Tensor operator()(const at::Tensor& latent) const;
  // Its two parts: up to where the maps grow, [B,C,32,32] in the net's type, and the rest.
  at::Tensor small_maps(const at::Tensor& latent) const;
  at::Tensor large_maps(const at::Tensor& maps) const;

 private:
  struct Block {
    std::vector<Resnet> resnets;
    std::optional<UpConv> upsampler;
  };
  at::ScalarType type_;
  Conv post_quant_;  // holds the division by the scaling factor
  Conv conv_in_;
  VaeMiddle middle_;
  std::vector<Block> blocks_;
  OutputConv conv_out_;
};

class VaeEncoder {
 public:
  VaeEncoder(const Weights& weights, const VaeConfig& config, const Placement& place);
  // [B,3,256,256] in [-1,1] -> the distribution's mean times the scaling factor, [B,4,32,32].
  at::Tensor operator()(const at::Tensor& image) const;

 private:
  struct Block {
    std::vector<Resnet> resnets;
    std::optional<Conv> downsampler;
  };
  at::ScalarType type_;
  Conv conv_in_;
  std::vector<Block> blocks_;
  VaeMiddle middle_;
  GroupNorm norm_out_;
  Conv conv_out_;
  Conv quant_;  // the mean's half only; holds the scaling factor
};

}  // namespace navtalk::nets
