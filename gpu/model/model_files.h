// MuseTalk's checkpoint folder: which files it has and what their JSON configurations say. Each weight
// file is looked for under its safetensors name first, then under the original name:
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

#include "gpu/nets/net_config.h"

namespace navtalk {

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

// The files of a net, relative to the checkpoint folder.
struct NetFiles {
  std::string folder;
  std::vector<std::string> names;  // of the weight file, in the order of preference
  std::string config;              // empty: the weights say everything
};
NetFiles net_files(Net net);
std::optional<std::filesystem::path> find_weights(const std::filesystem::path& root, Net net);
// The same; Error{not_found} that names the folder and the names that were looked for.
std::filesystem::path require_weights(const std::filesystem::path& root, Net net);

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

}  // namespace navtalk
