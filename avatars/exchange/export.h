// From a bundle to the folder that MuseTalk's real-time script reads (musetalk_folder.h draws it).
#pragma once

#include <filesystem>
#include <stop_token>

#include "avatars/bundle/bundle.h"
#include "core/base/progress.h"

namespace navtalk {

// `avatar` has latents. Of several clips the one for speech is written. Frames are written forwards and then backwards, those of an avatar that loops once. A frame without
// a face gets the box of the one before it (of the first one, at the start), an empty mask and a latent of zeros, so that it
// is shown unchanged. What MuseTalk has no place for (frame rate, loop, voice, sources) stands in avator_info.json under
// "navtalk". An existing folder is replaced with `force` if it is empty or holds avator_info.json. Stage "exporting".
// Error{invalid} for an avatar without any face, Error{failed}.
void export_avatar(const Bundle& avatar, const std::filesystem::path& folder, bool force,
                   const Progress& progress, const std::stop_token& stop);

}  // namespace navtalk
