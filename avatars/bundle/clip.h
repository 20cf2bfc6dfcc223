// The pictures of an avatar: frames.mp4 at the avatar's own size. H.264 codes even sizes only in
// 4:2:0, so the file may be one column or row larger; that edge is cut off. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/media/decode/indexed_video.h"
#include "core/tensor/image.h"

namespace navtalk {

// A stretch of the video's pictures.
struct ClipPart {
  std::int64_t first = 0, frames = 0;
};

class Clip {
 public:
  // Error{not_found}; Error{invalid} when the video is damaged, has another size, or exceeds the limits.
  Clip(const std::filesystem::path& file, int width, int height, const MediaLimits& limits = {});
  // A part of the video, which lies in it.
  Clip(const std::filesystem::path& file, int width, int height, const ClipPart& part,
       const MediaLimits& limits = {});

  int width() const { return width_; }
  int height() const { return height_; }
  std::int64_t frame_count() const { return part_.frames; }
  // No picture is decoded twice.
  bool keeps_all() const { return video_.keeps_all(); }
  Image frame(std::int64_t index) { return cut(video_.frame(part_.first + index)); }

 private:
  Image cut(Image picture) const;

  IndexedVideo video_;
  int width_, height_;
  ClipPart part_;
};

}  // namespace navtalk
