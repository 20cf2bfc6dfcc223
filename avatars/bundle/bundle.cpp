#include "avatars/bundle/bundle.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/clip.h"
#include "avatars/bundle/mask_file.h"
#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk {

struct Bundle::Impl {
  AvatarInfo info;
  Faces faces;
  MaskFile masks;
  Clip clip;
  std::optional<Latents> latents;
  std::string latents_checksum;  // of the model that made `latents`
  std::filesystem::path frames_file;

  std::vector<float> encoded(const FaceEncoder& encode, const Progress& progress,
                             const std::stop_token& stop) {
    std::vector<float> values;
    const auto keep = [&](std::span<const float> batch) {
      values.insert(values.end(), batch.begin(), batch.end());
    };
    encode_faces(clip, faces, encode, 0, keep, progress, stop);
    return values;
  }
};

namespace {

AvatarInfo read_info(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / k_info_file, ignored))
    throw Error(Code::not_found,
                fmt::format("{} is not an avatar: it has no {}", directory.string(), k_info_file));
  return read_avatar_info(directory / k_info_file);
}

}  // namespace

Bundle::Bundle(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;
Bundle::~Bundle() = default;

Bundle Bundle::open(const std::filesystem::path& directory) {
  AvatarInfo info = read_info(directory);
  Faces faces = read_faces(directory / k_faces_file, info);
  if (count_faces(faces) + info.faceless_frames != info.frames)
    throw Error(Code::invalid, fmt::format("{}: faceless_frames is {}, {} has {}",
                                           (directory / k_info_file).string(), info.faceless_frames,
                                           k_faces_file, info.frames - count_faces(faces)));
  MaskFile masks(directory / k_masks_file, faces);
  Clip clip(directory / k_frames_file, info.width, info.height);
  if (clip.frame_count() != info.frames)
    throw Error(Code::invalid,
                fmt::format("{}: holds {} frames, {} says {}", (directory / k_frames_file).string(),
                            clip.frame_count(), k_info_file, info.frames));
  std::optional<Latents> latents;
  if (!info.model_checksum.empty()) latents.emplace(directory / k_latents_file, info);
  std::string checksum = info.model_checksum;
  return Bundle(std::make_unique<Impl>(Impl{std::move(info), std::move(faces), std::move(masks),
                                            std::move(clip), std::move(latents),
                                            std::move(checksum), directory / k_frames_file}));
}

const AvatarInfo& Bundle::info() const { return impl_->info; }
std::int64_t Bundle::frame_count() const { return impl_->info.frames; }

const std::optional<AvatarFace>& Bundle::face(std::int64_t index) const {
  NAVTALK_CHECK(index >= 0 && index < frame_count());
  return impl_->faces[static_cast<std::size_t>(index)];
}

ConstImageView Bundle::mask(std::int64_t index) const {
  NAVTALK_CHECK(face(index));
  return impl_->masks.at(face(index)->mask);
}

Image Bundle::frame(std::int64_t index) const { return impl_->clip.frame(index); }

void Bundle::ensure_latents(const LatentOptions& model, const LatentCache& cache,
                            const Progress& progress, const std::stop_token& stop) {
  if (impl_->latents && impl_->latents_checksum == model.model_checksum) return;
  const LatentKey key =
      latent_key(impl_->frames_file, impl_->info, impl_->faces, model.model_checksum);
  impl_->latents = cache.find(key);
  if (!impl_->latents) {
    impl_->latents.emplace(impl_->faces, impl_->encoded(model.open_model(), progress, stop));
    cache.keep(key, *impl_->latents);
  }
  impl_->latents_checksum = model.model_checksum;
}

NdArray<float> Bundle::latent(std::int64_t index) const {
  NAVTALK_CHECK(impl_->latents && face(index));
  return impl_->latents->at(index);
}

}  // namespace navtalk
