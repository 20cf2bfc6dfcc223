#include "avatars/bundle/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

int next_even(int size) { return size + size % 2; }

// The edge that is cut off does not count.
MediaLimits with_edge(MediaLimits limits, int width, int height) {
  if (std::int64_t{width} * height <= limits.max_pixels)
    limits.max_pixels =
        std::max(limits.max_pixels, std::int64_t{next_even(width)} * next_even(height));
  return limits;
}

}  // namespace

Clip::Clip(const std::filesystem::path& file, int width, int height, const MediaLimits& limits)
    : video_(IndexedVideo::open(file, {.limits = with_edge(limits, width, height)})),
      width_(width),
      height_(height),
      part_{.frames = video_.frame_count()} {
  const bool whole = video_.width() == width && video_.height() == height;
  if (!whole && (video_.width() != next_even(width) || video_.height() != next_even(height)))
    throw Error(Code::invalid,
                fmt::format("{}: the video is {}x{}, the avatar {}x{}", file.string(),
                            video_.width(), video_.height(), width, height));
}

Clip::Clip(const std::filesystem::path& file, int width, int height, const ClipPart& part,
           const MediaLimits& limits)
    : Clip(file, width, height, limits) {
  NAVTALK_CHECK(part.first >= 0 && part.frames > 0 &&
                part.first + part.frames <= video_.frame_count());
  part_ = part;
}

Image Clip::cut(Image picture) const {
  if (picture.width == width_ && picture.height == height_) return picture;
  Image image(width_, height_);
  for (int y = 0; y < height_; ++y)
    std::copy_n(std::as_const(picture).view().row(y), image.view().stride, image.view().row(y));
  return image;
}

}  // namespace navtalk
