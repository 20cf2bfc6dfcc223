// The configuration's limits of pictures, sound and video.
#pragma once

#include "cmd/context.h"
#include "core/media/limits.h"

namespace navtalk::cmd {

inline MediaLimits media_limits(const Context& context) {
  const auto& media = context.config.media;
  return {.max_pixels = std::int64_t{media.max_megapixels} * 1'000'000,
          .max_duration_s = static_cast<double>(media.max_duration_s)};
}

}  // namespace navtalk::cmd
