// What `navtalk avatar import` and `navtalk avatar export` were asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct AvatarImportOptions {
  std::filesystem::path folder, output;
  std::string id, voice;
  std::optional<FrameRate> fps;   // nullopt: the folder's, or 25
  std::optional<double> sharpen;  // nullopt: as the folder says
  bool match_colour = false, loop = false, force = false;
};

struct AvatarExportOptions {
  std::string avatar;  // an id or a folder
  std::filesystem::path folder, models;
  bool force = false;
};

}  // namespace navtalk::cmd
