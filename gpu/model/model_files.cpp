#include "gpu/model/model_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"

namespace navtalk {
NetFiles net_files(Net net) {
  switch (net) {
    case Net::unet:
      return {"musetalkV15", {"unet.safetensors", "unet.pth"}, "musetalk.json"};
    case Net::vae:
      return {"sd-vae",
              {"diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin"},
              "config.json"};
    case Net::whisper:
      return {"whisper", {"model.safetensors", "pytorch_model.bin"}, "config.json"};
    case Net::bisenet:
      return {"face-parse-bisent", {"79999_iter.safetensors", "79999_iter.pth"}, ""};
    case Net::dwpose:
      return {"dwpose", {"dw-ll_ucoco_384.safetensors", "dw-ll_ucoco_384.pth"}, ""};
    case Net::s3fd:
      return {"", {"s3fd.safetensors", "s3fd-619a316812.pth", "s3fd.pth"}, ""};
  }
  return {};
}

std::optional<std::filesystem::path> find_weights(const std::filesystem::path& root, Net net) {
  const NetFiles files = net_files(net);
  for (const std::string& name : files.names) {
    std::error_code ignored;
    const std::filesystem::path path = root / files.folder / name;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::filesystem::path require_weights(const std::filesystem::path& root, Net net) {
  if (auto found = find_weights(root, net)) return *found;
  const NetFiles files = net_files(net);
  throw Error(
      Code::not_found,
      fmt::format("{}: none of {} is there; `navtalk model check {}` says what a checkpoint "
                  "folder needs",
                  (root / files.folder).native(), fmt::join(files.names, ", "), root.native()));
}

void check_together(const UnetConfig& unet, const VaeConfig& vae, const WhisperConfig& whisper) {
  const auto require = [](int value, int wanted, const char* what, const char* other) {
    if (value != wanted)
      throw Error(Code::invalid, fmt::format("musetalk.json: {} = {} does not fit {} {}", what,
                                             value, other, wanted));
  };
  require(unet.cross_attention_dim, whisper.d_model, "cross_attention_dim", "whisper's d_model");
  require(unet.in_channels, 2 * vae.latent_channels, "in_channels",
          "twice the VAE's latent_channels,");
  require(unet.out_channels, vae.latent_channels, "out_channels", "the VAE's latent_channels");
}

ModelFiles find_model_files(const std::filesystem::path& root) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(root, ignored))
    throw Error(Code::not_found, fmt::format("{}: no such folder of models", root.native()));
  const auto config = [&](Net net) {
    const NetFiles files = net_files(net);
    return root / files.folder / files.config;
  };
  ModelFiles files{.root = root,
                   .unet_config = read_unet_config(config(Net::unet)),
                   .vae_config = read_vae_config(config(Net::vae)),
                   .whisper_config = read_whisper_config(config(Net::whisper)),
                   .unet = require_weights(root, Net::unet),
                   .vae = require_weights(root, Net::vae),
                   .whisper = require_weights(root, Net::whisper)};
  const std::filesystem::path preprocessor = root / "whisper" / "preprocessor_config.json";
  if (std::filesystem::exists(preprocessor, ignored)) check_preprocessor_config(preprocessor);
  check_together(files.unet_config, files.vae_config, files.whisper_config);
  return files;
}

}  // namespace navtalk
