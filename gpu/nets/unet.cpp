#include "gpu/nets/unet.h"

#include <ATen/ATen.h>

#include <utility>

namespace navtalk::nets {
namespace {

// SiLU of the time embedding of t = 0, whose sinusoids are ones (cosines, which come first) and
// zeros.
at::Tensor time_embedding(const Weights& weights) {
  const at::Tensor w1 = weights("linear_1.weight");
  const at::Tensor cosines = w1.narrow(1, 0, w1.size(1) / 2).sum(1);
  const at::Tensor hidden = at::silu(cosines + weights("linear_1.bias"));
  return at::silu(at::linear(hidden, weights("linear_2.weight"), weights("linear_2.bias")));
}

}  // namespace

// Reads the stages in order and collects the audio projections on the way.
class Unet::Builder {
 public:
  Builder(Unet& net, const Weights& weights, const UnetConfig& config, const Placement& place)
      : net_(net),
        weights_(weights),
        config_(config),
        place_(place),
        time_(time_embedding(weights.in("time_embedding"))) {}

  void build() {
    const std::vector<int>& widths = config_.block_out_channels;
    skips_.push_back(widths.front());
    net_.conv_in_ = std::make_unique<Conv>(conv("conv_in", {.map_size = {size_, size_}}));
    for (std::size_t i = 0; i < widths.size(); ++i) net_.downs_.push_back(down(i));
    const Weights mid = weights_.in("mid_block");
    net_.mid_.push_back(layer(mid, 0, widths.back(), config_.heads.back(), 0));
    net_.mid_.push_back(layer(mid, 1, widths.back(), 0, 0));
    for (std::size_t i = 0; i < widths.size(); ++i) net_.ups_.push_back(up(i));
    net_.norm_out_ =
        std::make_unique<GroupNorm>(weights_.in("conv_norm_out"), config_.norm_num_groups,
                                    config_.norm_eps, true, NormKernel::own, place_);
    net_.conv_out_ = std::make_unique<Conv>(conv("conv_out", {.map_size = {size_, size_}}));
    constexpr std::int64_t k_window_rows = 50;
    net_.audio_ = std::make_unique<Linear>(at::cat(audio_, 0), at::Tensor(), k_window_rows, place_);
  }

 private:
  Conv conv(const std::string& name, const Conv::Geometry& geometry) const {
    return {weights_(name + ".weight"), weights_(name + ".bias"), geometry, place_};
  }

  // heads = 0: no transformer.
  Layer layer(const Weights& stage, std::int64_t index, std::int64_t width, int heads,
              std::int64_t skip_channels) {
    Layer made{.resnet = Resnet(stage.in("resnets", index),
                                {.map_size = size_,
                                 .groups = config_.norm_num_groups,
                                 .eps = config_.norm_eps,
                                 .skip_channels = skip_channels,
                                 .convs = winograd_in_fp32(place_),
                                 .time = time_},
                                place_),
               .transformer = std::nullopt};
    if (heads == 0) return made;
    const Weights attention = stage.in("attentions", index);
    made.transformer.emplace(attention, heads, config_.norm_num_groups, size_, place_);
    made.audio_offset = audio_width_;
    made.width = width;
    const Weights cross = attention.in("transformer_blocks", 0).in("attn2");
    audio_.push_back(cross("to_k.weight"));
    audio_.push_back(cross("to_v.weight"));
    audio_width_ += 2 * width;
    return made;
  }

  Down down(std::size_t i) {
    const Weights stage = weights_.in("down_blocks", static_cast<std::int64_t>(i));
    const bool last = i + 1 == config_.block_out_channels.size();
    const int width = config_.block_out_channels[i];
    Down made;
    for (int j = 0; j < config_.layers_per_block; ++j) {
      made.layers.push_back(layer(stage, j, width, last ? 0 : config_.heads[i], 0));
      skips_.push_back(width);
    }
    if (last) return made;
    made.downsampler.emplace(
        stage("downsamplers.0.conv.weight"), stage("downsamplers.0.conv.bias"),
        Conv::Geometry{.stride = 2, .padding = {1, 1}, .map_size = {size_, size_}}, place_);
    skips_.push_back(width);
    size_ /= 2;
    return made;
  }

  // Up block i mirrors down block (count - 1 - i).
  Up up(std::size_t i) {
    const Weights stage = weights_.in("up_blocks", static_cast<std::int64_t>(i));
    const std::size_t mirror = config_.block_out_channels.size() - 1 - i;
    const int width = config_.block_out_channels[mirror];
    Up made;
    for (int j = 0; j <= config_.layers_per_block; ++j) {
      made.layers.push_back(
          layer(stage, j, width, i == 0 ? 0 : config_.heads[mirror], skips_.back()));
      skips_.pop_back();
    }
    if (mirror == 0) return made;
    made.upsampler.emplace(stage("upsamplers.0.conv.weight"), stage("upsamplers.0.conv.bias"),
                           size_, place_, winograd_in_fp32(place_));
    size_ *= 2;
    return made;
  }

  Unet& net_;
  const Weights& weights_;
  const UnetConfig& config_;
  Placement place_;
  at::Tensor time_;
  std::int64_t size_ = k_latent_size;  // of the map at the stage being built
  std::vector<std::int64_t> skips_;    // channels of the maps that the up blocks will pop
  std::vector<at::Tensor> audio_;
  std::int64_t audio_width_ = 0;
};

Unet::Unet(const Weights& weights, const UnetConfig& config, const Placement& place)
    : type_(place.type) {
  Builder(*this, weights, config, place).build();
}

at::Tensor Unet::attend(const Layer& layer, at::Tensor h, const at::Tensor& audio) {
  if (!layer.transformer) return h;
  return (*layer.transformer)(std::move(h), audio.narrow(2, layer.audio_offset, layer.width),
                              audio.narrow(2, layer.audio_offset + layer.width, layer.width));
}

at::Tensor Unet::operator()(const at::Tensor& latent, const at::Tensor& context) const {
  const at::Tensor audio = (*audio_)(context.to(type_));
  at::Tensor h = (*conv_in_)(latent.to(type_).contiguous(at::MemoryFormat::ChannelsLast));
  std::vector<at::Tensor> skips{h};
  for (const Down& down : downs_) {
    for (const Layer& layer : down.layers)
      skips.push_back(h = attend(layer, layer.resnet(h), audio));
    if (down.downsampler) skips.push_back(h = (*down.downsampler)(h));
  }
  for (const Layer& layer : mid_) h = attend(layer, layer.resnet(h), audio);
  for (const Up& up : ups_) {
    for (const Layer& layer : up.layers) {
      h = attend(layer, layer.resnet(h, skips.back()), audio);
      skips.pop_back();
    }
    if (up.upsampler) h = (*up.upsampler)(h);
  }
  norm_out_->in_place(h);
  return (*conv_out_)(h);
}

}  // namespace navtalk::nets
