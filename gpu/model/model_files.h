// MuseTalk's checkpoint folder: which files it has, what their JSON configurations say, and whether
// the tensors fit. Layout (each weight file as .safetensors under its safetensors name first, then
// the original name):
//   musetalkV15/{musetalk.json, unet.safetensors|unet.pth}
//   sd-vae/{config.json, diffusion_pytorch_model.safetensors|.bin}
//   whisper/{config.json, preprocessor_config.json, model.safetensors|pytorch_model.bin}
//   dwpose/dw-ll_ucoco_384.pth, face-parse-bisent/79999_iter.pth, s3fd.pth or s3fd-619a316812.pth
//   (preparation only)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace navtalk {

struct UnetConfig {
  std::vector<int> block_out_channels{320, 640, 1280, 1280};
  int in_channels = 8, out_channels = 4, layers_per_block = 2, cross_attention_dim = 384;
  std::vector<int> heads{
      8, 8, 8, 8};  // per block; "attention_head_dim" in the file means the number of heads
  int norm_num_groups = 32;
  float norm_eps = 1e-5F;
};
struct VaeConfig {
  std::vector<int> block_out_channels{128, 256, 512, 512};
  int in_channels = 3, out_channels = 3, layers_per_block = 2, latent_channels = 4,
      norm_num_groups = 32;
  float scaling_factor = 0.18215F;
};
struct WhisperConfig {
  int d_model = 384, encoder_layers = 4, encoder_attention_heads = 6, encoder_ffn_dim = 1536;
  int num_mel_bins = 80, max_source_positions = 1500;
};

// Each reads one file; a structure that navtalk does not have (block types, act_fn, freq_shift,
// ...) is refused by name with Error{invalid}.
UnetConfig read_unet_config(const std::filesystem::path& file);
VaeConfig read_vae_config(const std::filesystem::path& file);
WhisperConfig read_whisper_config(const std::filesystem::path& file);
// whisper's preprocessor_config.json: navtalk computes the features of one configuration only.
void check_preprocessor_config(const std::filesystem::path& file);
// Error{invalid} when the three do not belong together (cross_attention_dim must be whisper's
// d_model, the UNet's channels those of the latents).
void check_together(const UnetConfig& unet, const VaeConfig& vae, const WhisperConfig& whisper);

enum class Net { unet, vae, whisper };
// Where a net lies in the checkpoint folder; names of the weight file in the order of preference.
struct WeightsPlace {
  std::string folder;
  std::vector<std::string> names;
  std::string config;
};
WeightsPlace weights_place(Net net);
std::optional<std::filesystem::path> find_weights(const std::filesystem::path& root, Net net);

struct ModelFiles {
  std::filesystem::path root;
  UnetConfig unet_config;
  VaeConfig vae_config;
  WhisperConfig whisper_config;
  std::filesystem::path unet, vae, whisper;  // the weight files found
};

// Error{not_found} that names the missing file and where it was looked for; Error{invalid} for
// configurations that do not fit together. A missing preprocessor_config.json means its defaults.
ModelFiles find_model_files(const std::filesystem::path& root);

// Every tensor that a net needs, with its shape, made from the configuration alone.
std::vector<TensorInfo> expected_unet(const UnetConfig& config);
std::vector<TensorInfo> expected_vae(const VaeConfig& config);
std::vector<TensorInfo> expected_whisper(const WhisperConfig& config);

// Compares a checkpoint with what is expected: names of missing, surplus and mis-shaped tensors.
// Prefixes and old spellings that the reference tolerates are accepted ("module.",
// "model.encoder.", decoder.* of whisper ignored, VAE attention query/key/value/proj_attn, also as
// 1x1 convolutions [c,c,1,1] in place of [c,c]); see canonical_name(). Any floating dtype fits.
struct Fit {
  std::vector<std::string> missing, surplus, mis_shaped, wrong_dtype;
  bool ok() const {
    return missing.empty() && surplus.empty() && mis_shaped.empty() && wrong_dtype.empty();
  }
};
// The name under which a stored tensor is looked for, nullopt when the reference ignores it.
std::optional<std::string> canonical_name(Net net, const std::string& stored);
Fit compare(Net net, const Checkpoint& checkpoint, const std::vector<TensorInfo>& expected);

}  // namespace navtalk
