// From MuseTalk's and LiveTalking's avatar folders to a bundle. The bundle has the folder's own frames, without loss, its
// boxes, masks and latents, so what is rendered with it is what MuseTalk's Python renders with the folder.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "avatars/bundle/avatar_info.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/media/limits.h"

namespace navtalk {

struct ImportOptions {
  std::filesystem::path folder;  // of MuseTalk or LiveTalking
  std::filesystem::path output;
  std::string id{};                // empty: avator_info.json's, else the output folder's name
  std::optional<FrameRate> fps{};  // nullopt: what the export of a bundle left there, else 25
  bool loop = false;               // the last frame leads to the first
  std::string voice{};             // espeak-ng's for this avatar; may be empty
  std::optional<double>
      sharpen{};  // of generated faces, 0 to k_most_sharpening; nullopt: as the export of a bundle says
  bool match_colour = false;  // generated faces get the colours of their frames
  bool force = false;         // replaces an avatar that stands at `output`
  MediaLimits limits{};
};

// One picture at a time is in memory. A folder whose second half is its first one backwards becomes a bundle of the first
// half, which plays the same. A frame whose mask and latent are zero becomes a frame without a face. Stages "comparing",
// "importing". Error{not_found}, or Error{invalid} that names the file and the entry; nothing stands at `output` then.
AvatarInfo import_avatar(const ImportOptions& options, const Progress& progress,
                         const std::stop_token& stop);

}  // namespace navtalk
