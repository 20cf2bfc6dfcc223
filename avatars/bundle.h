// An avatar bundle: a directory with everything that rendering needs, prepared once.
// docs/avatar-format.md defines the files: avatar.json, frames.mp4, faces.json, masks.safetensors,
// latents.safetensors. Immutable once opened; latents are made from the frames at first use when
// the bundle has none for this model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/image.h"
#include "core/ndarray.h"
#include "core/progress.h"
#include "gpu/image/compose.h"
#include "gpu/model.h"

namespace navtalk {

struct AvatarInfo {
  std::string id;
  int format_version = 1;
  int width = 0, height = 0;
  int fps = 25;
  std::int64_t frames = 0;
  std::int64_t faceless_frames = 0;
  std::string face_source;  // "cascade", "box"; the MuseTalk face networks add "musetalk"
  std::string
      model_checksum;  // SHA-256 of the VAE that made the latents; empty when there are none
};

// One frame's geometry; nullopt in Bundle::face() for a frame without a face, which is shown
// untouched.
struct AvatarFace {
  Placement placement;
  Box mask_region;  // inside the crop box: the part that the mask file covers
};

class Bundle {
 public:
  // Error{not_found}, Error{invalid} with the file's name when something is missing or does not
  // fit.
  static Bundle open(const std::filesystem::path& directory);
  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;
  ~Bundle();

  const AvatarInfo& info() const;
  std::int64_t frame_count() const;
  const std::optional<AvatarFace>& face(std::int64_t index) const;
  ConstImageView mask(std::int64_t index) const;  // one channel, mask_region's size
  Image frame(std::int64_t index) const;          // BGR copy; decoded frames are kept compactly
  // [1,8,32,32] for a frame with a face. ensure_latents() first: it encodes with `model` what the
  // bundle lacks (and keeps it in memory; a bundle on disk is never changed).
  NdArray<float> latent(std::int64_t index) const;
  void ensure_latents(Model& model, const std::string& model_checksum,
                      const Progress& progress = {});

 private:
  struct Impl;
  explicit Bundle(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Index into n frames for output frame t: 0..n-1, n-1..0, and again.
std::int64_t ping_pong(std::int64_t t, std::int64_t n);

}  // namespace navtalk
