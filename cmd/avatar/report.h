// What the avatar commands print about one avatar.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "avatars/bundle/avatar_info.h"
#include "cmd/context.h"

namespace navtalk::cmd {

// {"id","directory","width","height","fps","frames","duration_s","faceless_frames","face_source",
//  "mask_source","pixel_format","given_latents","model_checksum" or null,"loop","voice" or null,"bytes"}; bytes: of all its files.
nlohmann::ordered_json avatar_json(const AvatarInfo& info, const std::filesystem::path& directory);
// The same as lines of text.
void print_avatar(Context& context, const AvatarInfo& info, const std::filesystem::path& directory);

}  // namespace navtalk::cmd
