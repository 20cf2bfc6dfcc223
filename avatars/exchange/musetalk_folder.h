// An avatar as MuseTalk's real-time script and LiveTalking keep it, opened for reading:
//
//   full_imgs/00000000.png ...   the frames                       avator_info.json   its id; may be absent
//   mask/00000000.png ...        the masks, in grey
//   coords.pkl                   a face box for each frame: [x1, y1, x2, y2]
//   mask_coords.pkl              the mask's box for each frame: [x1, y1, x2, y2]
//   latents.pt                   a latent [1,8,32,32] for each frame
//
// MuseTalk stores the frames forwards and then backwards, 2N in all, and plays them round; LiveTalking stores N and plays
// them forwards and backwards. Pickles are read by the restricted reader, which executes nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/checkpoint/checkpoint.h"
#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk {

inline constexpr const char* k_musetalk_info = "avator_info.json";
inline constexpr const char* k_musetalk_frames = "full_imgs";
inline constexpr const char* k_musetalk_masks = "mask";
inline constexpr const char* k_musetalk_boxes = "coords.pkl";
inline constexpr const char* k_musetalk_mask_boxes = "mask_coords.pkl";
inline constexpr const char* k_musetalk_latents = "latents.pt";

// What avator_info.json says. The members below `version` are navtalk's own, under "navtalk": MuseTalk has no place for
// them.
struct MuseTalkInfo {
  std::string avatar_id{};  // "" where the file says none
  std::string version{};    // "v15", "v1"; "" in files of LiveTalking
  std::optional<FrameRate> fps{};
  bool loop = false;
  std::string voice{}, face_source{}, mask_source{};
  double sharpen = 0;
  bool match_colour = false;
};

struct MuseTalkFolder {
  std::filesystem::path path;
  MuseTalkInfo info;
  std::vector<std::filesystem::path> frames, masks;  // in order
  std::vector<Box> boxes, mask_boxes;
  Checkpoint latents;  // its tensors in order; floating, [1,8,32,32] each

  std::size_t size() const { return frames.size(); }
};

// Reads everything but pixels and latents. Error{not_found} for a folder that is not there, Error{invalid} names the file
// that is missing, damaged, or does not fit the others, and the entry.
MuseTalkFolder open_musetalk(const std::filesystem::path& folder);

// Whether the second half is the first one backwards: boxes, latents, frames and masks. Pictures are compared as files,
// and where these differ, by their pixels. Stage "comparing".
bool is_mirrored(const MuseTalkFolder& folder, const MediaLimits& limits, const Progress& progress,
                 const std::stop_token& stop);

}  // namespace navtalk
