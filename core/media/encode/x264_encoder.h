// Opening libx264 as every H.264 output of navtalk is coded: yuv420p, BT.709 limited range, bit-exact; or, without
// loss, in RGB. What outputs differ in are options. Private to core/media.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {

struct X264Options {
  int width = 0, height = 0;  // pixels, even unless lossless_rgb
  FrameRate fps = 25;
  int threads = 1;  // 0: libx264 chooses
  double crf = 23;  // quality: lower is better and larger
  // Frames are BGR24 and come back as they were; then `crf`, `bit_per_s` and `chroma` mean nothing.
  bool lossless_rgb = false;
  // At most, averaged over half a second; 0: no bound.
  std::int64_t bit_per_s = 0;
  AVChromaLocation chroma = AVCHROMA_LOC_LEFT;  // where the chroma samples were taken
  int key_interval = 0;  // pictures at most from one key frame to the next; 0: libx264's own
  // Of libx264 itself, as `ffmpeg -h encoder=libx264` lists them.
  std::vector<std::pair<const char*, const char*>> more{};
};

// Error{failed} when this FFmpeg lacks libx264, or it refuses the options.
CodecPtr open_x264(const X264Options& options);

}  // namespace navtalk::media
