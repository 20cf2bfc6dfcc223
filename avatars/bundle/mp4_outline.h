// What an MP4 file says of its video, read without FFmpeg: enough to recognise a file that is complete.
// For any other file, FFmpeg finds out what is damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace navtalk {

struct Mp4Outline {
  int width = 0, height = 0;
  std::int64_t frames = 0;
  bool rgb = false;  // coded with all colours of every pixel; else 4:2:0
};

// nullopt unless the file is plain: one index for all of it, one H.264 track of 8-bit 4:2:0 or RGB that
// begins with a key frame, and all of its frames inside the file.
std::optional<Mp4Outline> mp4_outline(const std::filesystem::path& file);

}  // namespace navtalk
