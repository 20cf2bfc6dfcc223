#include "gpu/timing/net_work.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "gpu/nets/expected_tensors.h"

namespace navtalk {
namespace {

constexpr int k_folded_taps = 4;  // of a 3x3 convolution behind nearest upsampling

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

double square(int side) { return static_cast<double>(side) * side; }

// The number behind `prefix`; -1: the name does not begin so.
int block_of(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) ? std::stoi(name.substr(prefix.size())) : -1;
}

bool is_weight(const TensorInfo& tensor) {
  return tensor.shape.size() >= 2 && !has(tensor.name, "time_emb") &&
         !has(tensor.name, "embed_positions");
}

double count_of(const TensorInfo& tensor) {
  double count = 1;
  for (const std::int64_t size : tensor.shape) count *= static_cast<double>(size);
  return count;
}

// Every output has a product for each of its weights.
LayerWork layer(const TensorInfo& tensor, double inputs, double outputs) {
  const double count = count_of(tensor);
  return {.flop = 2 * count * outputs,
          .weights = count,
          .values = static_cast<double>(tensor.shape[1]) * inputs +
                    static_cast<double>(tensor.shape[0]) * outputs};
}

// Queries with keys, and what comes of them with values.
LayerWork attention(double queries, double keys, double width) {
  return {.flop = 4 * queries * keys * width, .weights = 0, .values = 2 * (queries + keys) * width};
}

// A layer of pictures: `side` is that of its input.
LayerWork picture_layer(const TensorInfo& tensor, int side) {
  if (has(tensor.name, "downsamplers")) return layer(tensor, square(side), square(side / 2));
  if (!has(tensor.name, "upsamplers")) return layer(tensor, square(side), square(side));
  LayerWork work = layer(tensor, square(side), square(2 * side));
  const double taps = static_cast<double>(tensor.shape[2] * tensor.shape[3]);
  work.flop *= k_folded_taps / taps;
  return work;
}

int unet_side(const std::string& name, int levels) {
  if (const int down = block_of(name, "down_blocks."); down >= 0) return k_latent_size >> down;
  if (const int up = block_of(name, "up_blocks."); up >= 0)
    return k_latent_size >> (levels - 1 - up);
  return name.starts_with("mid_block.") ? k_latent_size >> (levels - 1) : k_latent_size;
}

}  // namespace

std::vector<LayerWork> unet_work(const UnetConfig& config, int context_rows) {
  std::vector<LayerWork> layers;
  const auto levels = static_cast<int>(config.block_out_channels.size());
  for (const TensorInfo& tensor : expected_unet(config)) {
    if (!is_weight(tensor)) continue;
    const int side = unet_side(tensor.name, levels);
    const double width = static_cast<double>(tensor.shape[0]), rows = context_rows;
    if (has(tensor.name, "attn2.to_k") || has(tensor.name, "attn2.to_v"))
      layers.push_back(layer(tensor, rows, rows));
    else
      layers.push_back(picture_layer(tensor, side));
    if (has(tensor.name, "attn1.to_q"))
      layers.push_back(attention(square(side), square(side), width));
    if (has(tensor.name, "attn2.to_q")) layers.push_back(attention(square(side), rows, width));
  }
  return layers;
}

std::vector<LayerWork> decoder_work(const VaeConfig& config) {
  std::vector<LayerWork> layers;
  const auto levels = static_cast<int>(config.block_out_channels.size());
  for (const TensorInfo& tensor : expected_vae(config)) {
    const bool decodes =
        tensor.name.starts_with("decoder.") || tensor.name.starts_with("post_quant_conv");
    if (!decodes || !is_weight(tensor)) continue;
    const int up = block_of(tensor.name, "decoder.up_blocks.");
    const bool last = tensor.name.starts_with("decoder.conv_out");
    const int side = k_latent_size << (last ? levels - 1 : std::max(up, 0));
    layers.push_back(picture_layer(tensor, side));
    if (has(tensor.name, "to_q"))
      layers.push_back(attention(square(side), square(side), static_cast<double>(tensor.shape[0])));
  }
  return layers;
}

std::vector<LayerWork> whisper_work(const WhisperConfig& config) {
  std::vector<LayerWork> layers;
  const double tokens = config.max_source_positions;
  for (const TensorInfo& tensor : expected_whisper(config)) {
    if (!is_weight(tensor)) continue;
    const bool halves = tensor.name.starts_with("encoder.conv2");
    const bool whole = tensor.name.starts_with("encoder.conv1");
    layers.push_back(layer(tensor, (whole || halves ? 2 : 1) * tokens, (whole ? 2 : 1) * tokens));
    if (has(tensor.name, "q_proj")) layers.push_back(attention(tokens, tokens, config.d_model));
  }
  return layers;
}

double flop_of(std::span<const LayerWork> layers) {
  double sum = 0;
  for (const LayerWork& one : layers) sum += one.flop;
  return sum;
}

double least_seconds(std::span<const LayerWork> layers, std::int64_t batch, double bytes_per_number,
                     const DeviceRates& rates) {
  const auto images = static_cast<double>(batch);
  double sum = 0;
  for (const LayerWork& one : layers)
    sum += std::max(images * one.flop / rates.flop_per_s,
                    (one.weights + images * one.values) * bytes_per_number / rates.bytes_per_s);
  return sum;
}

}  // namespace navtalk
