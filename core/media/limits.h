// How much a picture or a recording may hold. A few kilobytes can describe gigabytes, so sizes are
// checked before anything is decoded.
#pragma once

#include <cstdint>

namespace navtalk {

struct MediaLimits {
  std::int64_t max_pixels = 25'000'000;  // of one picture or video frame, width times height
  double max_duration_s = 3'600;         // of sound or video
};

}  // namespace navtalk
