// Generated faces into their frames, on the device, in one launch for a batch: what the decoder gave becomes bytes, is resized to its
// box, sharpened, blended through the mask, as far as the lips are seen, and leaves as NV12, so that nothing goes to the host before the
// encoder. The twin on the CPU is compose(), between nv12_to_bgr() and bgr_to_nv12().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/tensor/image.h"
#include "gpu/cuda/format.h"
#include "gpu/cuda/stream.h"
#include "gpu/image/compose.h"

namespace navtalk::cuda {

// What match_colours() needs of the device's memory for one face: sums over the seam, then what becomes of each level.
inline constexpr std::size_t k_match_bytes = 1024;

// One face and its frame; every pointer is the device's. `frame` and `out` may be the same.
struct FacePaste {
  const std::uint8_t* frame = nullptr;  // NV12, width * height * 3 / 2 bytes
  std::uint8_t* out = nullptr;          // likewise
  const void* face = nullptr;  // [256,256,face_channels] RGB in about [-1,1], the decoder's output
  const std::uint8_t* mask = nullptr;  // one byte a pixel of mask_region
  std::ptrdiff_t mask_stride = 0;      // bytes from row to row
  Box mask_region;                     // what the mask covers, in coordinates of the crop box
  Placement placement;
  std::optional<Unsharp> unsharp{};
  // k_match_bytes of its own, aligned to 8: the face gets the frame's colours, which takes three launches more. nullptr: it keeps its own.
  void* match = nullptr;
  float lips = 1;  // how much of the face is seen, 0 to 1
};

// All frames are width x height, both even. Outside the 2x2 pixels that a face touches the output is the frame's own bytes; inside,
// bytes are within one level of the twin's.
void paste_faces(std::span<const FacePaste> faces, int width, int height, Format format,
                 int face_channels, Stream stream);

}  // namespace navtalk::cuda
