// What `navtalk avatar prepare` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

struct AvatarPrepareOptions {
  std::filesystem::path video, image, images, output, face_boxes, models;
  std::string id, face_box, voice;
  FrameRate fps = 25;
  bool loop = false, no_latents = false, force = false;
};

}  // namespace navtalk::cmd
