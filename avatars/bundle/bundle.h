// An avatar bundle: a directory with everything that rendering needs, prepared once.
// docs/avatar-format.md defines the files: avatar.json, frames.mp4, faces.json, masks.safetensors,
// latents.safetensors, transitions.safetensors. Nothing on disk changes once it stands; latents are made from the frames at
// first use when the bundle has none for the model at hand, and kept in a cache. One thread at a
// time, but for face(), mask() and latent(), which only read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/faces.h"
#include "avatars/bundle/latents/latent_cache.h"
#include "avatars/bundle/latents/latents.h"
#include "avatars/bundle/playback.h"
#include "avatars/bundle/transitions.h"
#include "core/base/progress.h"
#include "core/tensor/image.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

class Bundle {
 public:
  // Reads everything but pixels. Error{not_found} when there is no bundle, Error{invalid} with the
  // file and the key when something is missing, does not fit, or exceeds the limits.
  static Bundle open(const std::filesystem::path& directory, const MediaLimits& limits = {});
  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;
  ~Bundle();

  const AvatarInfo& info() const;
  std::int64_t frame_count() const;        // of all clips
  const Transitions* transitions() const;  // null: there is one clip
  // nullopt for a frame without a face, which is shown untouched.
  const std::optional<AvatarFace>& face(std::int64_t index) const;
  ConstImageView mask(std::int64_t index) const;  // one channel, mask_region's size
  // BGR, always the same bytes; cheap in the order of playback.h. Error{invalid} for a damaged
  // video.
  Image frame(std::int64_t index) const;

  // Unless the bundle has latents of this model, or given ones, takes them from the cache, or else opens the
  // model, encodes the faces and keeps them there. Afterwards latent() gives [1,8,32,32] for every
  // frame with a face.
  void ensure_latents(const LatentOptions& model, const LatentCache& cache,
                      const Progress& progress = {}, const std::stop_token& stop = {});
  // The same without making any; false: there are none yet, and ensure_latents() has to.
  bool find_latents(const LatentOptions& model, const LatentCache& cache);
  NdArray<float> latent(std::int64_t index) const;
  // Names this avatar's frames where they are kept, for as long as the bundle is open.
  std::weak_ptr<const void> owner() const;

 private:
  struct Impl;
  explicit Bundle(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
