// avatar.json: what an avatar bundle is. docs/avatar-format.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "avatars/bundle/avatar_clips.h"
#include "core/base/frame_rate.h"

namespace navtalk {

inline constexpr const char* k_built_in_mask = "ellipse";
// The source of the faces and masks of an avatar that MuseTalk's Python prepared.
inline constexpr const char* k_imported = "musetalk";

struct AvatarInfo {
  std::string id;
  int format_version = 1;  // 2 where a bundle needs more than version 1 has: docs/avatar-format.md
  int width = 0, height = 0;
  bool rgb = false;  // frames.mp4 holds the pictures' own bytes; else 4:2:0
  FrameRate fps = 25;
  std::int64_t frames = 0;
  std::int64_t faceless_frames = 0;
  std::string face_source;  // "dwpose", "dlib", "cascade", "box", "musetalk"
  std::string mask_source =
      k_built_in_mask;         // or "skin", "musetalk-jaw", -raw, -neck; "musetalk": imported
  std::string model_checksum;  // SHA-256 of the VAE that made the latents; empty without latents,
  bool given_latents = false;  // or when they came from elsewhere and serve every model
  bool loop = false;           // the last frame leads to the first; of the first clip
  std::string voice;           // espeak-ng's for its --text; empty: whoever speaks chooses
  // What is done to its generated faces, live and in videos, where nobody asks for something else: avatars/bundle/face_finish.h.
  double sharpen = 0;  // 0 to k_most_sharpening
  bool match_colour = false;
  // The first one, "speaking", is what videos are rendered from. Empty: all frames are that clip, in every state.
  std::vector<AvatarClip> clips = {};
  bool operator==(const AvatarInfo&) const = default;
};

inline bool has_latents(const AvatarInfo& info) {
  return info.given_latents || !info.model_checksum.empty();
}

inline AvatarClip speaking_clip(const AvatarInfo& info) {
  if (!info.clips.empty()) return info.clips.front();
  return {.name = std::string(k_speaking_clip), .frames = info.frames, .loop = info.loop};
}

inline constexpr std::int64_t k_max_avatar_frames = 100'000;  // more than an hour at 25 a second
inline constexpr FrameRate k_highest_avatar_fps = 240;
inline constexpr int k_max_frame_size = 8192;   // pixels a side
inline constexpr std::size_t k_max_voice = 64;  // bytes
inline constexpr double k_most_sharpening = 10;

// Error{not_found}, or Error{invalid} naming file and key. Unknown keys are left alone.
AvatarInfo read_avatar_info(const std::filesystem::path& file);
// The same information gives the same bytes; Error{failed}.
void write_avatar_info(const std::filesystem::path& file, const AvatarInfo& info);

}  // namespace navtalk
