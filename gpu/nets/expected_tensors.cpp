// The tensors of MuseTalk's nets as diffusers and transformers name and shape them, in the order in
// which the modules own them.
#include "gpu/nets/expected_tensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace navtalk {
namespace {

using Dim = std::int64_t;

class Tensors {
 public:
  void add(const std::string& name, Shape shape) {
    list_.push_back({name, DType::f32, std::move(shape)});
  }
  void with_bias(const std::string& name, Shape shape) {
    const Dim outputs = shape[0];
    add(name + ".weight", std::move(shape));
    add(name + ".bias", {outputs});
  }
  void norm(const std::string& name, Dim channels) { with_bias(name, {channels}); }
  void linear(const std::string& name, Dim in, Dim out) { with_bias(name, {out, in}); }
  void conv(const std::string& name, Dim in, Dim out, Dim kernel) {
    with_bias(name, {out, in, kernel, kernel});
  }
  // time_width 0: a residual block without a time embedding, as in the VAE.
  void resnet(const std::string& name, Dim in, Dim out, Dim time_width) {
    norm(name + ".norm1", in);
    conv(name + ".conv1", in, out, 3);
    if (time_width > 0) linear(name + ".time_emb_proj", time_width, out);
    norm(name + ".norm2", out);
    conv(name + ".conv2", out, out, 3);
    if (in != out) conv(name + ".conv_shortcut", in, out, 1);
  }
  void cross_attention(const std::string& name, Dim width, Dim context) {
    add(name + ".to_q.weight", {width, width});
    add(name + ".to_k.weight", {width, context});
    add(name + ".to_v.weight", {width, context});
    linear(name + ".to_out.0", width, width);
  }
  void transformer(const std::string& name, Dim width, Dim context) {
    const std::string block = name + ".transformer_blocks.0";
    norm(name + ".norm", width);
    conv(name + ".proj_in", width, width, 1);
    norm(block + ".norm1", width);
    cross_attention(block + ".attn1", width, width);
    norm(block + ".norm2", width);
    cross_attention(block + ".attn2", width, context);
    norm(block + ".norm3", width);
    linear(block + ".ff.net.0.proj", width, 8 * width);
    linear(block + ".ff.net.2", 4 * width, width);
    conv(name + ".proj_out", width, width, 1);
  }
  // The VAE's attention over pixels, with biases and one head.
  void pixel_attention(const std::string& name, Dim width) {
    norm(name + ".group_norm", width);
    for (const char* part : {".to_q", ".to_k", ".to_v", ".to_out.0"})
      linear(name + part, width, width);
  }
  std::vector<TensorInfo> take() { return std::move(list_); }

 private:
  std::vector<TensorInfo> list_;
};

std::string item(const std::string& name, const char* kind, std::size_t index) {
  return fmt::format("{}.{}.{}", name, kind, index);
}

// All levels but the last have transformers and a downsampler; `skips` collects the widths that the
// way up pops.
void unet_down(Tensors& tensors, const UnetConfig& config, std::vector<Dim>& skips) {
  const auto& widths = config.block_out_channels;
  const Dim time_width = 4L * widths[0];
  Dim in = widths[0];
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = fmt::format("down_blocks.{}", i);
    const bool last = i + 1 == widths.size();
    for (std::size_t j = 0; j < static_cast<std::size_t>(config.layers_per_block); ++j) {
      tensors.resnet(item(name, "resnets", j), in, widths[i], time_width);
      if (!last)
        tensors.transformer(item(name, "attentions", j), widths[i], config.cross_attention_dim);
      in = widths[i];
      skips.push_back(in);
    }
    if (last) continue;
    tensors.conv(name + ".downsamplers.0.conv", in, in, 3);
    skips.push_back(in);
  }
}

void unet_up(Tensors& tensors, const UnetConfig& config, std::vector<Dim> skips) {
  const std::vector<int> widths(config.block_out_channels.rbegin(),
                                config.block_out_channels.rend());
  const Dim time_width = 4L * widths.back();
  Dim in = widths[0];
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = fmt::format("up_blocks.{}", i);
    for (std::size_t j = 0; j <= static_cast<std::size_t>(config.layers_per_block); ++j) {
      tensors.resnet(item(name, "resnets", j), in + skips.back(), widths[i], time_width);
      if (i > 0)
        tensors.transformer(item(name, "attentions", j), widths[i], config.cross_attention_dim);
      in = widths[i];
      skips.pop_back();
    }
    if (i + 1 < widths.size()) tensors.conv(name + ".upsamplers.0.conv", in, in, 3);
  }
}

void vae_middle(Tensors& tensors, const std::string& name, Dim width) {
  tensors.resnet(name + ".resnets.0", width, width, 0);
  tensors.pixel_attention(name + ".attentions.0", width);
  tensors.resnet(name + ".resnets.1", width, width, 0);
}

void vae_encoder(Tensors& tensors, const VaeConfig& config) {
  const auto& widths = config.block_out_channels;
  Dim in = widths[0];
  tensors.conv("encoder.conv_in", config.in_channels, in, 3);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = fmt::format("encoder.down_blocks.{}", i);
    for (std::size_t j = 0; j < static_cast<std::size_t>(config.layers_per_block); ++j) {
      tensors.resnet(item(name, "resnets", j), in, widths[i], 0);
      in = widths[i];
    }
    if (i + 1 < widths.size()) tensors.conv(name + ".downsamplers.0.conv", in, in, 3);
  }
  vae_middle(tensors, "encoder.mid_block", in);
  tensors.norm("encoder.conv_norm_out", in);
  tensors.conv("encoder.conv_out", in, 2L * config.latent_channels, 3);
}

void vae_decoder(Tensors& tensors, const VaeConfig& config) {
  const std::vector<int> widths(config.block_out_channels.rbegin(),
                                config.block_out_channels.rend());
  Dim in = widths[0];
  tensors.conv("decoder.conv_in", config.latent_channels, in, 3);
  vae_middle(tensors, "decoder.mid_block", in);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = fmt::format("decoder.up_blocks.{}", i);
    for (std::size_t j = 0; j <= static_cast<std::size_t>(config.layers_per_block); ++j) {
      tensors.resnet(item(name, "resnets", j), in, widths[i], 0);
      in = widths[i];
    }
    if (i + 1 < widths.size()) tensors.conv(name + ".upsamplers.0.conv", in, in, 3);
  }
  tensors.norm("decoder.conv_norm_out", in);
  tensors.conv("decoder.conv_out", in, config.out_channels, 3);
}

void whisper_layer(Tensors& tensors, const std::string& name, const WhisperConfig& config) {
  const Dim width = config.d_model;
  tensors.add(name + ".self_attn.k_proj.weight", {width, width});
  for (const char* part : {".self_attn.v_proj", ".self_attn.q_proj", ".self_attn.out_proj"})
    tensors.linear(name + part, width, width);
  tensors.norm(name + ".self_attn_layer_norm", width);
  tensors.linear(name + ".fc1", width, config.encoder_ffn_dim);
  tensors.linear(name + ".fc2", config.encoder_ffn_dim, width);
  tensors.norm(name + ".final_layer_norm", width);
}

}  // namespace

std::vector<TensorInfo> expected_unet(const UnetConfig& config) {
  Tensors tensors;
  const Dim first = config.block_out_channels.front(), deepest = config.block_out_channels.back();
  std::vector<Dim> skips{first};
  tensors.conv("conv_in", config.in_channels, first, 3);
  tensors.linear("time_embedding.linear_1", first, 4 * first);
  tensors.linear("time_embedding.linear_2", 4 * first, 4 * first);
  unet_down(tensors, config, skips);
  tensors.resnet("mid_block.resnets.0", deepest, deepest, 4 * first);
  tensors.transformer("mid_block.attentions.0", deepest, config.cross_attention_dim);
  tensors.resnet("mid_block.resnets.1", deepest, deepest, 4 * first);
  unet_up(tensors, config, skips);
  tensors.norm("conv_norm_out", first);
  tensors.conv("conv_out", first, config.out_channels, 3);
  return tensors.take();
}

std::vector<TensorInfo> expected_vae(const VaeConfig& config) {
  Tensors tensors;
  vae_encoder(tensors, config);
  vae_decoder(tensors, config);
  tensors.conv("quant_conv", 2L * config.latent_channels, 2L * config.latent_channels, 1);
  tensors.conv("post_quant_conv", config.latent_channels, config.latent_channels, 1);
  return tensors.take();
}

std::vector<TensorInfo> expected_whisper(const WhisperConfig& config) {
  Tensors tensors;
  const Dim width = config.d_model;
  tensors.with_bias("encoder.conv1", {width, config.num_mel_bins, 3});
  tensors.with_bias("encoder.conv2", {width, width, 3});
  tensors.add("encoder.embed_positions.weight", {config.max_source_positions, width});
  for (int i = 0; i < config.encoder_layers; ++i)
    whisper_layer(tensors, fmt::format("encoder.layers.{}", i), config);
  tensors.norm("encoder.layer_norm", width);
  return tensors.take();
}

}  // namespace navtalk
