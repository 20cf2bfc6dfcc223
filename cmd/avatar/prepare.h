// What `navtalk avatar prepare` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct AvatarPrepareOptions {
  std::filesystem::path video, image, images, output, face_boxes, models, preview;
  std::string id, face_box, voice, parsing_mode, device = "cpu", face_precision = "fp32";
  int face_batch = 0;
  std::filesystem::path idle, listening;
  std::vector<std::string> actions;  // NAME=FILE
  std::optional<int> left_cheek_width, right_cheek_width, bbox_shift, extra_margin, face;
  FrameRate fps = 25;
  double sharpen = 0;
  bool match_colour = false;
  bool still_motion = false, no_blinks = false;
  bool lossless = false, loop = false, no_latents = false, no_smoothing = false, force = false;
};

}  // namespace navtalk::cmd
