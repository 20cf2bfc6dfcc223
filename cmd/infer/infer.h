// What `navtalk infer` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct InferOptions {
  std::string avatar = "ada", text, voice, device = "cpu", precision = "auto", format = "mp4", size;
  std::string subtitles;                     // srt, vtt or burn; empty: none
  std::vector<std::filesystem::path> audio;  // "-": standard input
  std::filesystem::path text_file, output, output_directory, frames, models;
  std::filesystem::path avatar_directory;  // what `avatar` names, once it is known
  int threads = 0, batch = 0, kbit_per_s = 0;
  std::optional<FrameRate> fps;  // nullopt: the avatar's
  std::optional<double> crf, duration_s;
  double start_s = 0;
  std::optional<float> sharpen;
  bool force = false, ssml = false;
};

}  // namespace navtalk::cmd
