#include "avatars/bundle/bundle_files.h"

#include <fmt/format.h>

#include <utility>

#include "avatars/bundle/mp4_outline.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

AvatarInfo read_info(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / k_info_file, ignored))
    throw Error(Code::not_found,
                fmt::format("{} is not an avatar: it has no {}", directory.string(), k_info_file));
  return read_avatar_info(directory / k_info_file);
}

}  // namespace

BundleFiles read_bundle_files(const std::filesystem::path& directory) {
  AvatarInfo info = read_info(directory);
  Faces faces = read_faces(directory / k_faces_file, info);
  if (count_faces(faces) + info.faceless_frames != info.frames)
    throw Error(Code::invalid, fmt::format("{}: faceless_frames is {}, {} has {}",
                                           (directory / k_info_file).string(), info.faceless_frames,
                                           k_faces_file, info.frames - count_faces(faces)));
  MaskFile masks(directory / k_masks_file, faces);
  std::optional<Latents> latents;
  if (has_latents(info)) latents.emplace(directory / k_latents_file, info);
  std::optional<Transitions> transitions;
  if (!info.clips.empty()) transitions = Transitions::read(directory / k_transitions_file, info);
  return {std::move(info), std::move(faces), std::move(masks), std::move(latents),
          std::move(transitions)};
}

bool has_all_frames(const std::filesystem::path& directory, const AvatarInfo& info) {
  const std::optional<Mp4Outline> video = mp4_outline(directory / k_frames_file);
  // In 4:2:0 H.264 codes even sizes only.
  const auto coded = [&](int side) { return info.rgb ? side : side + side % 2; };
  return video && video->rgb == info.rgb && video->frames == info.frames &&
         video->width == coded(info.width) && video->height == coded(info.height);
}

}  // namespace navtalk
