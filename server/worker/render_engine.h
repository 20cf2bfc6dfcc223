// The engine of a real worker: MuseTalk's nets on one device, and avatars from the operator's
// folders.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/media/limits.h"
#include "server/worker/engine.h"

namespace navtalk::server {

struct RenderEngineOptions {
  std::filesystem::path models;                // MuseTalk's checkpoint folder
  std::vector<std::filesystem::path> avatars;  // folders that hold avatars by id, in order
  // Brings an avatar that none of the folders has, and returns its folder; empty: there is no other
  // place. Error{not_found}, or Error{failed} when it cannot be had now. On the maker's thread.
  std::function<std::filesystem::path(const std::string& id, const Progress& progress)>
      fetch_avatar{};
  std::string device = "cpu",
              decoder_device = "auto";  // auto: of the decoder, where the other nets run
  bool graphs = true;                   // on a GPU
  std::string precision = "auto", weight_format = "auto";
  std::string video_encoder = "auto";  // of live sessions: avatars/live/live_encoders.h
  int threads = 0;                     // 0: every core
  MediaLimits limits{};                // of avatars
};

// Error{usage}, Error{invalid} for a device, precision, weight format or encoder that this build or machine does not have; files are
// looked at by load(). The functions share what is loaded; they may be copied.
Engine render_engine(const RenderEngineOptions& options);

}  // namespace navtalk::server
