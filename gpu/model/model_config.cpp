// What diffusers and transformers take from the configurations, their defaults included. A field
// that changes the structure of a net may only have the value that MuseTalk's nets have.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpu/model/config_file.h"
#include "gpu/model/model_files.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr int k_most_channels = 65536, k_most_layers = 64;
constexpr std::size_t k_unet_levels = 6;  // 32 latent pixels halve five times
constexpr std::size_t k_vae_levels = 4;   // 256 pixels become 32

struct Fixed {
  const char* field;
  json value;
};

void require_all(const ConfigFile& file, const std::vector<Fixed>& fields) {
  for (const Fixed& fixed : fields) file.require(fixed.field, fixed.value);
}

json repeated(const char* first, std::size_t count, const char* then, std::size_t then_count) {
  json list = json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(first);
  for (std::size_t i = 0; i < then_count; ++i) list.push_back(then);
  return list;
}

void require_groups(const ConfigFile& file, const std::vector<int>& channels, int groups) {
  for (const int width : channels) {
    if (width % groups != 0)
      file.refuse("norm_num_groups", fmt::format("does not divide {} channels", width));
  }
}

std::vector<Fixed> unet_structure(std::size_t levels) {
  return {
      {"_class_name", "UNet2DConditionModel"},
      {"down_block_types", repeated("CrossAttnDownBlock2D", levels - 1, "DownBlock2D", 1)},
      {"mid_block_type", "UNetMidBlock2DCrossAttn"},
      {"up_block_types", repeated("UpBlock2D", 1, "CrossAttnUpBlock2D", levels - 1)},
      {"act_fn", "silu"},
      {"flip_sin_to_cos", true},
      {"freq_shift", 0},
      {"center_input_sample", false},
      {"downsample_padding", 1},
      {"mid_block_scale_factor", 1},
      {"num_attention_heads", nullptr},
      {"only_cross_attention", false},
      {"dual_cross_attention", false},
      {"use_linear_projection", false},
      {"transformer_layers_per_block", 1},
      {"reverse_transformer_layers_per_block", nullptr},
      {"encoder_hid_dim", nullptr},
      {"encoder_hid_dim_type", nullptr},
      {"class_embed_type", nullptr},
      {"num_class_embeds", nullptr},
      {"addition_embed_type", nullptr},
      {"resnet_time_scale_shift", "default"},
      {"resnet_skip_time_act", false},
      {"resnet_out_scale_factor", 1},
      {"time_embedding_type", "positional"},
      {"time_embedding_dim", nullptr},
      {"time_embedding_act_fn", nullptr},
      {"timestep_post_act", nullptr},
      {"time_cond_proj_dim", nullptr},
      {"conv_in_kernel", 3},
      {"conv_out_kernel", 3},
      {"attention_type", "default"},
      {"class_embeddings_concat", false},
      {"mid_block_only_cross_attention", nullptr},
      {"cross_attention_norm", nullptr},
  };
}

std::vector<Fixed> vae_structure() {
  return {
      {"_class_name", "AutoencoderKL"},
      {"down_block_types", repeated("DownEncoderBlock2D", k_vae_levels, "", 0)},
      {"up_block_types", repeated("UpDecoderBlock2D", k_vae_levels, "", 0)},
      {"act_fn", "silu"},
      {"shift_factor", nullptr},
      {"latents_mean", nullptr},
      {"latents_std", nullptr},
      {"use_quant_conv", true},
      {"use_post_quant_conv", true},
      {"mid_block_add_attention", true},
  };
}

}  // namespace

UnetConfig read_unet_config(const std::filesystem::path& path) {
  const ConfigFile file(path);
  UnetConfig config;
  config.block_out_channels = file.size_list("block_out_channels", config.block_out_channels,
                                             k_most_channels, k_unet_levels);
  const std::size_t levels = config.block_out_channels.size();
  if (levels < 2) file.refuse("block_out_channels", "must have at least 2 levels");
  require_all(file, unet_structure(levels));
  config.in_channels = file.size("in_channels", 4, k_most_channels);
  config.out_channels = file.size("out_channels", 4, k_most_channels);
  config.layers_per_block = file.size("layers_per_block", 2, k_most_layers);
  config.cross_attention_dim = file.size("cross_attention_dim", 1280, k_most_channels);
  config.heads = file.sizes("attention_head_dim", 8, k_most_channels, levels);
  config.norm_num_groups = file.size("norm_num_groups", 32, k_most_channels);
  config.norm_eps = static_cast<float>(file.positive("norm_eps", 1e-5));
  require_groups(file, config.block_out_channels, config.norm_num_groups);
  for (std::size_t i = 0; i < levels; ++i) {
    if (config.block_out_channels[i] % config.heads[i] != 0)
      file.refuse(
          "attention_head_dim",
          fmt::format("{} heads (navtalk reads it as diffusers does: the number of heads) do "
                      "not divide {} channels",
                      config.heads[i], config.block_out_channels[i]));
  }
  return config;
}

VaeConfig read_vae_config(const std::filesystem::path& path) {
  const ConfigFile file(path);
  VaeConfig config;
  config.block_out_channels =
      file.size_list("block_out_channels", {64}, k_most_channels, k_vae_levels);
  if (config.block_out_channels.size() != k_vae_levels)
    file.refuse("block_out_channels", "must have 4 levels, which make 32 latent pixels of 256");
  require_all(file, vae_structure());
  config.in_channels = file.size("in_channels", 3, k_most_channels);
  config.out_channels = file.size("out_channels", 3, k_most_channels);
  config.layers_per_block = file.size("layers_per_block", 1, k_most_layers);
  config.latent_channels = file.size("latent_channels", 4, k_most_channels);
  config.norm_num_groups = file.size("norm_num_groups", 32, k_most_channels);
  config.scaling_factor = static_cast<float>(file.positive("scaling_factor", 0.18215));
  require_groups(file, config.block_out_channels, config.norm_num_groups);
  require_all(file, {{"in_channels", 3}, {"out_channels", 3}});
  return config;
}

WhisperConfig read_whisper_config(const std::filesystem::path& path) {
  const ConfigFile file(path);
  require_all(file, {{"model_type", "whisper"},
                     {"activation_function", "gelu"},
                     {"scale_embedding", false},
                     {"num_mel_bins", 80},
                     {"max_source_positions", 1500}});
  WhisperConfig config;
  config.d_model = file.size("d_model", config.d_model, k_most_channels);
  config.encoder_layers = file.size("encoder_layers", config.encoder_layers, k_most_layers);
  config.encoder_attention_heads =
      file.size("encoder_attention_heads", config.encoder_attention_heads, k_most_channels);
  config.encoder_ffn_dim = file.size("encoder_ffn_dim", config.encoder_ffn_dim, k_most_channels);
  if (config.d_model % config.encoder_attention_heads != 0)
    file.refuse("encoder_attention_heads",
                fmt::format("does not divide d_model {}", config.d_model));
  return config;
}

void check_preprocessor_config(const std::filesystem::path& path) {
  require_all(ConfigFile(path), {{"sampling_rate", 16000},
                                 {"n_fft", 400},
                                 {"hop_length", 160},
                                 {"feature_size", 80},
                                 {"chunk_length", 30},
                                 {"padding_value", 0}});
}

}  // namespace navtalk
