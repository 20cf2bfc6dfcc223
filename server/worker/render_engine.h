// The engine of a real worker: MuseTalk's nets on one device, and avatars from the operator's
// folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/media/limits.h"
#include "server/worker/engine.h"

namespace navtalk::server {

struct RenderEngineOptions {
  std::filesystem::path models;                // MuseTalk's checkpoint folder
  std::vector<std::filesystem::path> avatars;  // folders that hold avatars by id, in order
  std::string device = "cpu";
  std::string precision = "auto";
  int threads = 0;       // 0: every core
  MediaLimits limits{};  // of avatars
};

// Error{usage}, Error{invalid} for a device or precision that this build does not have; files are
// looked at by load(). The functions share what is loaded; they may be copied.
Engine render_engine(const RenderEngineOptions& options);

}  // namespace navtalk::server
