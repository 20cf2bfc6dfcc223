#include "gpu/nets/whisper.h"

#include <ATen/ATen.h>

#include "gpu/nets/layers/activation.h"
#include "gpu/nets/layers/attention.h"

namespace navtalk::nets {
namespace {

// A 1-D convolution of width 3 as a 2-D one over a single row.
Conv conv1d(const Weights& weights, const std::string& name, std::int64_t stride,
            std::int64_t length, const Placement& place) {
  return {weights(name + ".weight").unsqueeze(2),
          weights(name + ".bias"),
          {.stride = stride, .padding = {0, 1}, .map_size = {1, length}},
          place};
}

}  // namespace

Whisper::Layer Whisper::layer(const Weights& weights, const WhisperConfig& config,
                              const Placement& place) {
  const Weights self = weights.in("self_attn");
  const std::int64_t rows = config.max_source_positions;
  const at::Tensor no_key_bias = at::zeros({config.d_model});
  return {.attention_norm = LayerNorm(weights.in("self_attn_layer_norm"), place),
          .qkv = Linear(
              at::cat({self("q_proj.weight"), self("k_proj.weight"), self("v_proj.weight")}, 0),
              at::cat({self("q_proj.bias"), no_key_bias, self("v_proj.bias")}, 0), rows, place),
          .out = Linear(self("out_proj.weight"), self("out_proj.bias"), rows, place),
          .norm = LayerNorm(weights.in("final_layer_norm"), place),
          .fc1 = Linear(weights("fc1.weight"), weights("fc1.bias"), rows, place),
          .fc2 = Linear(weights("fc2.weight"), weights("fc2.bias"), rows, place)};
}

Whisper::Whisper(const Weights& weights, const WhisperConfig& config, const Placement& place)
    : type_(place.type),
      heads_(config.encoder_attention_heads),
      conv1_(conv1d(weights, "encoder.conv1", 1, 2L * config.max_source_positions, place)),
      conv2_(conv1d(weights, "encoder.conv2", 2, 2L * config.max_source_positions, place)),
      positions_(place.place(weights("encoder.embed_positions.weight"))),
      norm_(weights.in("encoder.layer_norm"), place) {
  for (int i = 0; i < config.encoder_layers; ++i)
    layers_.push_back(layer(weights.in("encoder.layers", i), config, place));
}

at::Tensor Whisper::operator()(const at::Tensor& mel, std::int64_t first,
                               std::int64_t count) const {
  const auto wanted = [&](const at::Tensor& tokens) { return tokens.narrow(1, first, count); };
  const at::Tensor x = mel.to(type_).unsqueeze(2).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor heard = to_tokens(gelu_of(conv2_(gelu_of(conv1_(x)))));
  at::Tensor h = heard + positions_.narrow(0, 0, heard.size(1));
  std::vector<at::Tensor> states{wanted(h)};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    std::vector<at::Tensor> qkv = layer.qkv(layer.attention_norm(h)).chunk(3, 2);
    const bool last = i + 1 == layers_.size();
    if (last) {
      qkv[0] = wanted(qkv[0]);
      h = wanted(h).contiguous();
    }
    h = layer.out.plus(attention(qkv[0], qkv[1], qkv[2], heads_), h);
    h = layer.fc2.plus(gelu_of(layer.fc1(layer.norm(h))), h);
    states.push_back(last ? norm_(h) : wanted(h));
  }
  return at::stack(states, 2).to(at::kFloat);
}

}  // namespace navtalk::nets
