#include "gpu/nets/vae.h"

#include <ATen/ATen.h>

#include "gpu/nets/layers/attention.h"

namespace navtalk::nets {
namespace {

constexpr float k_eps = 1e-6F;

Conv conv3(const Weights& weights, const std::string& name, std::int64_t map_size,
           const Placement& place) {
  return {weights(name + ".weight"),
          weights(name + ".bias"),
          {.map_size = {map_size, map_size}},
          place};
}

// Winograd costs the demo's decoder a tenth of its exactness, and keeping the output in fp32 gives
// as much back: 3.4e-3 from the reference (rms) of 8.4e-2 that are allowed.
constexpr ConvKernel k_decoder_convs = ConvKernel::winograd;

Resnet resnet(const Weights& weights, std::int64_t groups, std::int64_t map_size,
              const Placement& place, NormKernel norms = NormKernel::own,
              ConvKernel convs = ConvKernel::library) {
  return {weights,
          {.map_size = map_size, .groups = groups, .eps = k_eps, .norms = norms, .convs = convs},
          place};
}

at::Tensor merged(const Weights& attention, const std::string& kind) {
  return at::cat({attention("to_q." + kind), attention("to_k." + kind), attention("to_v." + kind)},
                 0);
}

}  // namespace

VaeMiddle::VaeMiddle(const Weights& weights, std::int64_t groups, std::int64_t map_size,
                     const Placement& place, NormKernel norms_behind_attention, ConvKernel convs)
    : first_(resnet(weights.in("resnets.0"), groups, map_size, place, NormKernel::own, convs)),
      norm_(weights.in("attentions.0.group_norm"), groups, k_eps, false, NormKernel::own, place),
      qkv_(merged(weights.in("attentions.0"), "weight"), merged(weights.in("attentions.0"), "bias"),
           map_size * map_size, place),
      out_(weights("attentions.0.to_out.0.weight"), weights("attentions.0.to_out.0.bias"),
           map_size * map_size, place),
      second_(resnet(weights.in("resnets.1"), groups, map_size, place, norms_behind_attention,
                     convs)) {}

at::Tensor VaeMiddle::operator()(const at::Tensor& x) const {
  const at::Tensor h = first_.consume(x);
  const std::vector<at::Tensor> qkv = qkv_(to_tokens(norm_(h))).chunk(3, 2);
  const at::Tensor attended = out_.plus(attention(qkv[0], qkv[1], qkv[2], 1), to_tokens(h));
  return second_.consume(to_map(attended, h.size(2), h.size(3)));
}

VaeDecoder::VaeDecoder(const Weights& weights, const VaeConfig& config, const Placement& place,
                       NormKernel norms)
    : type_(place.type),
      post_quant_(weights("post_quant_conv.weight") / config.scaling_factor,
                  weights("post_quant_conv.bias"), {.padding = {0, 0}}, place.in(at::kFloat)),
      conv_in_(conv3(weights, "decoder.conv_in", k_latent_size, place)),
      middle_(weights.in("decoder.mid_block"), config.norm_num_groups, k_latent_size, place, norms,
              k_decoder_convs),
      conv_out_(weights.in("decoder.conv_norm_out"), weights("decoder.conv_out.weight"),
                weights("decoder.conv_out.bias"),
                {.map_size = k_face_size,
                 .groups = config.norm_num_groups,
                 .eps = k_eps,
                 .norm = norms,
                 .conv = k_decoder_convs},
                place) {
  std::int64_t size = k_latent_size;
  const std::size_t count = config.block_out_channels.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Weights stage = weights.in("decoder.up_blocks", static_cast<std::int64_t>(i));
    Block& block = blocks_.emplace_back();
    for (int j = 0; j <= config.layers_per_block; ++j)
      block.resnets.push_back(resnet(stage.in("resnets", j), config.norm_num_groups, size, place,
                                     norms, k_decoder_convs));
    if (i + 1 == count) break;
    block.upsampler.emplace(stage("upsamplers.0.conv.weight"), stage("upsamplers.0.conv.bias"),
                            size, place, k_decoder_convs);
    size *= 2;
  }
}

at::Tensor VaeDecoder::small_maps(const at::Tensor& latent) const {
  const at::Tensor z =
      post_quant_(latent.to(at::kFloat).contiguous(at::MemoryFormat::ChannelsLast));
  at::Tensor h = middle_(conv_in_(z.to(type_)));
  for (const Resnet& resnet : blocks_.front().resnets) h = resnet.consume(h);
  return h;
}

at::Tensor VaeDecoder::large_maps(const at::Tensor& maps) const {
  at::Tensor h = maps;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (i > 0)
      for (const Resnet& resnet : blocks_[i].resnets) h = resnet.consume(h);
    if (blocks_[i].upsampler) h = (*blocks_[i].upsampler)(h);
  }
  return conv_out_(std::move(h));
}

at::Tensor VaeDecoder::operator()(const at::Tensor& latent) const {
  return large_maps(small_maps(latent));
}

VaeEncoder::VaeEncoder(const Weights& weights, const VaeConfig& config, const Placement& place)
    : type_(place.type),
      conv_in_(conv3(weights, "encoder.conv_in", k_face_size, place)),
      middle_(weights.in("encoder.mid_block"), config.norm_num_groups, k_latent_size, place,
              NormKernel::own, winograd_in_fp32(place)),
      norm_out_(weights.in("encoder.conv_norm_out"), config.norm_num_groups, k_eps, true,
                NormKernel::own, place),
      conv_out_(conv3(weights, "encoder.conv_out", k_latent_size, place)),
      quant_(
          weights("quant_conv.weight").narrow(0, 0, config.latent_channels) * config.scaling_factor,
          weights("quant_conv.bias").narrow(0, 0, config.latent_channels) * config.scaling_factor,
          {.padding = {0, 0}}, place.in(at::kFloat)) {
  std::int64_t size = k_face_size;
  const std::size_t count = config.block_out_channels.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Weights stage = weights.in("encoder.down_blocks", static_cast<std::int64_t>(i));
    Block& block = blocks_.emplace_back();
    for (int j = 0; j < config.layers_per_block; ++j)
      block.resnets.push_back(resnet(stage.in("resnets", j), config.norm_num_groups, size, place,
                                     NormKernel::own, winograd_in_fp32(place)));
    if (i + 1 == count) break;
    block.downsampler.emplace(
        stage("downsamplers.0.conv.weight"), stage("downsamplers.0.conv.bias"),
        Conv::Geometry{.stride = 2, .padding = {0, 0}, .map_size = {size + 1, size + 1}}, place);
    size /= 2;
  }
}

at::Tensor VaeEncoder::operator()(const at::Tensor& image) const {
  at::Tensor h = conv_in_(image.to(type_).contiguous(at::MemoryFormat::ChannelsLast));
  for (const Block& block : blocks_) {
    for (const Resnet& resnet : block.resnets) h = resnet.consume(h);
    // One column on the right and one row below, zeros: the reference's asymmetric padding.
    if (block.downsampler)
      h = (*block.downsampler)(
          at::constant_pad_nd(h, {0, 1, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast));
  }
  h = middle_(h);
  norm_out_.in_place(h);
  return quant_(conv_out_(h).to(at::kFloat));
}

}  // namespace navtalk::nets
