// What `navtalk infer` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct InferOptions {
  std::string avatar = "ada", text, voice, device = "cpu", precision = "auto";
  std::filesystem::path audio, output, frames, models;
  int threads = 0, batch = 0;
  FrameRate fps = 25;
  std::optional<float> sharpen;
  bool force = false;
};

}  // namespace navtalk::cmd
