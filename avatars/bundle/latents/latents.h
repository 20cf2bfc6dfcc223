// The VAE's latents of an avatar's faces: how they are made and how latents.safetensors keeps them.
// docs/avatar-format.md describes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "avatars/bundle/clip.h"
#include "avatars/bundle/faces.h"
#include "core/base/progress.h"
#include "core/checkpoint/checkpoint.h"
#include "core/tensor/ndarray.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

inline constexpr std::size_t k_latent_values = std::size_t{8} * k_latent_size * k_latent_size;
inline constexpr std::size_t k_encode_batch = 8;  // faces per pass; part of the numbers' identity

// The face as the VAE sees it: what the frame shows of the box, as [256,256,3] BGR, Lanczos.
Image face_crop(ConstImageView frame, const Box& box);

// Crops of 256x256 BGR to latents [K,8,32,32]: Model::encode of whatever model is at hand.
using FaceEncoder = std::function<NdArray<float>(std::span<const ConstImageView> crops)>;
// By whom latents are made. The model is opened when the faces are known, and only if it is needed.
struct LatentOptions {
  std::string model_checksum;  // SHA-256 of the VAE's weight file
  std::function<FaceEncoder()> open_model;
};
// By the model of a checkpoint folder, in fp32: they are made once, so by the best numbers. Errors
// of find_model_files; `threads` 0: every core.
LatentOptions latents_of_model(const std::filesystem::path& models, int threads = 0);

// Whole batches of latents, k_latent_values each, in frame order (the last one may be smaller).
using LatentSink = std::function<void(std::span<const float> latents)>;
// Encodes the faces of `clip`, leaving out the first `skip` of them (a multiple of
// k_encode_batch). Stage "latents".
void encode_faces(Clip& clip, const Faces& faces, const FaceEncoder& encode, std::size_t skip,
                  const LatentSink& sink, const Progress& progress, const std::stop_token& stop);

// One latent a frame; frames without a face have zeros. Thread-safe.
class Latents {
 public:
  // `values` holds one latent for every face, in frame order.
  Latents(const Faces& faces, const std::vector<float>& values);
  // Mapped from latents.safetensors. Error{not_found}; Error{invalid} with file and tensor when the
  // shape is not [frames,8,32,32] of F32 or they were made by another model than `info` says.
  Latents(const std::filesystem::path& file, const AvatarInfo& info);

  NdArray<float> at(std::int64_t frame) const;  // [1,8,32,32]; Error{invalid} if not finite
  std::span<const float> values() const;        // [frames,8,32,32]
  // As write_latents(). Error{failed}.
  void write(const std::filesystem::path& file, const std::string& model_checksum,
             const std::map<std::string, std::string>& metadata = {}) const;

 private:
  std::variant<std::vector<float>, Checkpoint> store_;
};

// latents.safetensors of one latent a frame, [frames,8,32,32]; an empty checksum: given latents.
// Further `metadata` goes into the file beside the checksum. Error{failed}.
void write_latents(const std::filesystem::path& file, std::span<const float> values,
                   const std::string& model_checksum,
                   const std::map<std::string, std::string>& metadata = {});
// The same of values that are asked for one latent after the other, `frames` times.
void write_latents(const std::filesystem::path& file, std::int64_t frames,
                   std::function<std::span<const float>()> next, const std::string& model_checksum);

}  // namespace navtalk
