// What --output and --size ask for. Private to the command.
#pragma once

#include <filesystem>
#include <string>

#include "core/media/encode/video_format.h"

namespace navtalk::cmd {

struct OutputTarget {
  enum class Kind { none, file, standard_output, folder };  // folder: PNGs and the sound
  Kind kind = Kind::none;
  std::filesystem::path path{};
  const VideoFormat* format = nullptr;  // of a file or of standard output
};
// "" is none, "-" is standard output, a name with a slash at its end or of a folder that is there
// is a folder, any other is a file. Error{usage} for an ending that is not a format's, which lists
// them, and for a terminal.
OutputTarget output_target(const std::filesystem::path& output);

struct PictureSize {
  int width = 0, height = 0;  // pixels
};
// "640x480", or "640" for the height that keeps the shape of width x height; "" gives these.
// Error{usage} for anything else, and for sides that are not 16 to 8192.
PictureSize picture_size(const std::string& text, int width, int height);

}  // namespace navtalk::cmd
