// The decoder of a placed model, in passes that can be graphs. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "gpu/nets/graphed_net.h"
#include "gpu/nets/vae.h"

namespace navtalk::nets {

// Its small maps do not fill a GPU with one face, its large ones do not stay in the L2 cache with many: up to eight faces go through the
// first part together, and a few at a time through the rest.
class DecoderPasses {
 public:
  // `decoded`: faces in one pass of the second part. `decoder` and `graphs` outlive it; `graphs` may be null.
  DecoderPasses(const VaeDecoder& decoder, std::int64_t decoded, NetGraphs* graphs);

  // [B,4,32,32] to faces [.,3,256,256] in parts, as the decoder gives them.
  Tensors operator()(const at::Tensor& latents) const;

 private:
  GraphedNet small_maps_, large_maps_;
};

}  // namespace navtalk::nets
