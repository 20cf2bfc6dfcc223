// Finished frames in another size, on the device, in one launch for a batch. The twin on the CPU is resize() (linear), between
// nv12_to_bgr() and bgr_to_nv12().
#pragma once

#include <cstdint>
#include <span>

#include "gpu/cuda/stream.h"

namespace navtalk::cuda {

// One frame; both pointers are the device's, to NV12 in yuv420_bytes() that do not overlap.
struct FrameScale {
  const std::uint8_t* from = nullptr;
  std::uint8_t* to = nullptr;
};

// From width x height to to_width x to_height, all even. Bytes are within one level of the twin's.
void scale_frames(std::span<const FrameScale> frames, int width, int height, int to_width,
                  int to_height, Stream stream);

}  // namespace navtalk::cuda
