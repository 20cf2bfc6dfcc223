#include "tests/gpu/nets/random_model.h"

#include <cmath>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>
#include <random>

#include "core/checkpoint/safetensors_writer.h"
#include "gpu/nets/expected_tensors.h"

namespace navtalk::tests {
namespace {

using nlohmann::json;

void write_net(const std::filesystem::path& file, Net net, std::vector<TensorInfo> tensors,
               const RandomModel& model) {
  if (model.edit) model.edit(net, tensors);
  std::mt19937 bits(static_cast<unsigned>(net) + 1U);
  std::normal_distribution<float> normal;
  std::list<std::vector<float>> values;
  SafetensorsWriter writer;
  for (const TensorInfo& tensor : tensors) {
    const std::size_t count = element_count(tensor.shape);
    const auto rows = static_cast<float>(tensor.shape.empty() ? 1 : tensor.shape[0]);
    const bool matrix = tensor.shape.size() > 1;
    const bool gain =
        !matrix && tensor.name.find("norm") != std::string::npos && tensor.name.ends_with("weight");
    const float size = matrix ? std::sqrt(rows / static_cast<float>(count)) : 0.1F;
    std::vector<float>& data = values.emplace_back(count);
    for (float& value : data) value = normal(bits) * size + (gain ? 1.0F : 0.0F);
    writer.add(tensor.name, DType::f32, tensor.shape, std::as_bytes(std::span(data)));
  }
  writer.write(file);
}

void write_json(const std::filesystem::path& file, const json& content) {
  std::ofstream(file) << content.dump(1);
}

json repeated(const char* name, std::size_t count) { return std::vector<std::string>(count, name); }

}  // namespace

void write_random_model(const std::filesystem::path& folder, const RandomModel& model) {
  for (const char* part : {"musetalkV15", "sd-vae", "whisper"})
    std::filesystem::create_directories(folder / part);
  const std::size_t levels = model.unet.block_out_channels.size();
  json down = repeated("CrossAttnDownBlock2D", levels), up = repeated("CrossAttnUpBlock2D", levels);
  down.back() = "DownBlock2D";
  up.front() = "UpBlock2D";
  write_json(folder / "musetalkV15/musetalk.json",
             {{"_class_name", "UNet2DConditionModel"},
              {"act_fn", "silu"},
              {"attention_head_dim", model.unet.heads},
              {"block_out_channels", model.unet.block_out_channels},
              {"center_input_sample", false},
              {"cross_attention_dim", model.unet.cross_attention_dim},
              {"down_block_types", down},
              {"downsample_padding", 1},
              {"flip_sin_to_cos", true},
              {"freq_shift", 0},
              {"in_channels", model.unet.in_channels},
              {"layers_per_block", model.unet.layers_per_block},
              {"mid_block_scale_factor", 1},
              {"norm_eps", 1e-5},
              {"norm_num_groups", model.unet.norm_num_groups},
              {"out_channels", model.unet.out_channels},
              {"sample_size", 64},
              {"up_block_types", up}});
  write_json(folder / "sd-vae/config.json",
             {{"_class_name", "AutoencoderKL"},
              {"act_fn", "silu"},
              {"block_out_channels", model.vae.block_out_channels},
              {"down_block_types", repeated("DownEncoderBlock2D", 4)},
              {"in_channels", 3},
              {"latent_channels", model.vae.latent_channels},
              {"layers_per_block", model.vae.layers_per_block},
              {"norm_num_groups", model.vae.norm_num_groups},
              {"out_channels", 3},
              {"sample_size", 256},
              {"up_block_types", repeated("UpDecoderBlock2D", 4)}});
  write_json(folder / "whisper/config.json",
             {{"model_type", "whisper"},
              {"activation_function", "gelu"},
              {"d_model", model.whisper.d_model},
              {"encoder_attention_heads", model.whisper.encoder_attention_heads},
              {"encoder_ffn_dim", model.whisper.encoder_ffn_dim},
              {"encoder_layers", model.whisper.encoder_layers},
              {"max_source_positions", 1500},
              {"num_mel_bins", 80},
              {"scale_embedding", false}});
  write_json(folder / "whisper/preprocessor_config.json", {{"chunk_length", 30},
                                                           {"feature_size", 80},
                                                           {"hop_length", 160},
                                                           {"n_fft", 400},
                                                           {"padding_value", 0.0},
                                                           {"sampling_rate", 16000}});
  write_net(folder / "musetalkV15/unet.safetensors", Net::unet, expected_unet(model.unet), model);
  write_net(folder / "sd-vae/diffusion_pytorch_model.safetensors", Net::vae,
            expected_vae(model.vae), model);
  write_net(folder / "whisper/model.safetensors", Net::whisper, expected_whisper(model.whisper),
            model);
}

}  // namespace navtalk::tests
