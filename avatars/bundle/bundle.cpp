#include "avatars/bundle/bundle.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/clip.h"
#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk {

struct Bundle::Impl {
  BundleFiles files;
  Clip clip;
  std::string latents_checksum;  // of the model that made the latents
  std::filesystem::path frames_file;
  std::shared_ptr<const int> owner = std::make_shared<const int>();

  // Whose latents have to be made; nullopt: they are here, or were in the cache.
  std::optional<LatentKey> missing_latents(const std::string& model, const LatentCache& cache) {
    const bool fit = files.info.given_latents || latents_checksum == model;
    if (files.latents && fit) return std::nullopt;
    LatentKey key = latent_key(frames_file, files.info, files.faces, model);
    auto found = cache.find(key);
    if (!found) return key;
    files.latents = std::move(found);
    latents_checksum = model;
    return std::nullopt;
  }

  std::vector<float> encoded(const FaceEncoder& encode, const Progress& progress,
                             const std::stop_token& stop) {
    std::vector<float> values;
    const auto keep = [&](std::span<const float> batch) {
      values.insert(values.end(), batch.begin(), batch.end());
    };
    encode_faces(clip, files.faces, encode, 0, keep, progress, stop);
    return values;
  }
};

Bundle::Bundle(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;
Bundle::~Bundle() = default;

Bundle Bundle::open(const std::filesystem::path& directory, const MediaLimits& limits) {
  BundleFiles files = read_bundle_files(directory);
  const AvatarInfo& info = files.info;
  Clip clip(directory / k_frames_file, info.width, info.height, limits);
  if (clip.frame_count() != info.frames)
    throw Error(Code::invalid,
                fmt::format("{}: holds {} frames, {} says {}", (directory / k_frames_file).string(),
                            clip.frame_count(), k_info_file, info.frames));
  std::string checksum = info.model_checksum;
  return Bundle(std::make_unique<Impl>(
      Impl{std::move(files), std::move(clip), std::move(checksum), directory / k_frames_file}));
}

const AvatarInfo& Bundle::info() const { return impl_->files.info; }
std::int64_t Bundle::frame_count() const { return impl_->files.info.frames; }
const Transitions* Bundle::transitions() const {
  return impl_->files.transitions ? &*impl_->files.transitions : nullptr;
}

const std::optional<AvatarFace>& Bundle::face(std::int64_t index) const {
  NAVTALK_CHECK(index >= 0 && index < frame_count());
  return impl_->files.faces[static_cast<std::size_t>(index)];
}

ConstImageView Bundle::mask(std::int64_t index) const {
  NAVTALK_CHECK(face(index));
  return impl_->files.masks.at(face(index)->mask);
}

Image Bundle::frame(std::int64_t index) const { return impl_->clip.frame(index); }

void Bundle::ensure_latents(const LatentOptions& model, const LatentCache& cache,
                            const Progress& progress, const std::stop_token& stop) {
  const auto missing = impl_->missing_latents(model.model_checksum, cache);
  if (!missing) return;
  impl_->files.latents.emplace(impl_->files.faces,
                               impl_->encoded(model.open_model(), progress, stop));
  impl_->latents_checksum = model.model_checksum;
  cache.keep(*missing, *impl_->files.latents);
}

bool Bundle::find_latents(const LatentOptions& model, const LatentCache& cache) {
  return !impl_->missing_latents(model.model_checksum, cache);
}

NdArray<float> Bundle::latent(std::int64_t index) const {
  NAVTALK_CHECK(impl_->files.latents && face(index));
  return impl_->files.latents->at(index);
}

std::weak_ptr<const void> Bundle::owner() const { return impl_->owner; }

}  // namespace navtalk
