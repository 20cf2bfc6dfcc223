// What `navtalk avatar import` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct AvatarImportOptions {
  std::filesystem::path folder, output;
  std::string id, voice;
  std::optional<FrameRate> fps;  // nullopt: the folder's, or 25
  bool loop = false, force = false;
};

}  // namespace navtalk::cmd
