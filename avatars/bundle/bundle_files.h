// The names of the files in an avatar bundle.
#pragma once

namespace navtalk {

inline constexpr const char* k_info_file = "avatar.json";
inline constexpr const char* k_frames_file = "frames.mp4";
inline constexpr const char* k_faces_file = "faces.json";
inline constexpr const char* k_masks_file = "masks.safetensors";
inline constexpr const char* k_latents_file = "latents.safetensors";

}  // namespace navtalk
