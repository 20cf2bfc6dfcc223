#include "gpu/nets/decoder_passes.h"

#include <utility>
#include <vector>

namespace navtalk::nets {
namespace {

constexpr std::int64_t k_together = 8;
// In faces. Small maps: a pass of one face takes about a third of what one of eight takes.
constexpr double k_small_cost = 2, k_large_cost = 0.05;

std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= most; size *= 2) sizes.push_back(size);
  return sizes;
}

}  // namespace

DecoderPasses::DecoderPasses(const VaeDecoder& decoder, std::int64_t decoded, NetGraphs* graphs)
    : small_maps_([&decoder](const Tensors& in) { return decoder.small_maps(in[0]); },
                  {.name = "decoder's small maps",
                   .sizes = sizes_up_to(k_together),
                   .pass_cost = k_small_cost},
                  graphs),
      large_maps_([&decoder](const Tensors& in) { return decoder.large_maps(in[0]); },
                  {.name = "decoder", .sizes = sizes_up_to(decoded), .pass_cost = k_large_cost},
                  graphs) {}

Tensors DecoderPasses::operator()(const at::Tensor& latents) const {
  Tensors faces;
  for (const at::Tensor& maps : small_maps_({latents}))
    for (at::Tensor& part : large_maps_({maps})) faces.push_back(std::move(part));
  return faces;
}

}  // namespace navtalk::nets
