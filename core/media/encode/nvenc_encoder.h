// Opening NVENC, the H.264 encoder of NVIDIA's GPUs, for live streams: BT.709 limited range, no picture held back. Private to core/media.
#pragma once

#include <cstdint>

#include "core/base/frame_rate.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {

struct NvencOptions {
  int width = 0, height = 0;  // pixels, even
  FrameRate fps = 25;
  std::int64_t bit_per_s = 0;  // at most, averaged over half a second
  int key_interval = 0;        // pictures at most from one key frame to the next
  int gpu = 0;                 // as CUDA counts the devices that this process sees
  AVBufferRef* frames =
      nullptr;  // the AVHWFramesContext of what is coded; nullptr: yuv420p from the host
};

// Error{failed} says what is missing: NVENC in this FFmpeg, a driver, an encoder on that GPU (A100, H100 and H200 have
// none), or room for one more stream (GeForce cards bound them).
CodecPtr open_nvenc(const NvencOptions& options);

}  // namespace navtalk::media
