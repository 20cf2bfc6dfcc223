// The files of an avatar bundle but its pictures: their names, and what they hold.
#pragma once

#include <filesystem>
#include <optional>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/faces.h"
#include "avatars/bundle/latents/latents.h"
#include "avatars/bundle/mask_file.h"
#include "avatars/bundle/transitions.h"

namespace navtalk {

inline constexpr const char* k_info_file = "avatar.json";
inline constexpr const char* k_frames_file = "frames.mp4";
inline constexpr const char* k_faces_file = "faces.json";
inline constexpr const char* k_masks_file = "masks.safetensors";
inline constexpr const char* k_latents_file = "latents.safetensors";
inline constexpr const char* k_transitions_file = "transitions.safetensors";

struct BundleFiles {
  AvatarInfo info;
  Faces faces;
  MaskFile masks;
  std::optional<Latents> latents;          // nullopt: made at first use
  std::optional<Transitions> transitions;  // of an avatar with several clips
};
// Error{not_found} when there is no bundle, Error{invalid} with the file and the key when something
// is missing or does not fit the rest.
BundleFiles read_bundle_files(const std::filesystem::path& directory);
// Whether the pictures are all there, as far as that can be told without FFmpeg; false: in doubt.
bool has_all_frames(const std::filesystem::path& directory, const AvatarInfo& info);

}  // namespace navtalk
