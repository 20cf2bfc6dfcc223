// BGR from and to 4:2:0 video, BT.709 limited range (Y 16 to 235, U and V 16 to 240). Chroma is the
// mean of 2x2 pixels, and is repeated on the way back. I420: planes Y, U, V, one after another in
// width * height * 3 / 2 bytes; NV12: Y, then U and V interleaved. Width and height are even.
// Bytes are within 0.51 of the exact values. Single-threaded and re-entrant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor/image.h"
#include "gpu/image/batch.h"

namespace navtalk {

constexpr std::size_t yuv420_bytes(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3 / 2;
}

void bgr_to_i420(ConstImageView bgr, std::uint8_t* i420);
void bgr_to_nv12(ConstImageView bgr, std::uint8_t* nv12);
void i420_to_bgr(const std::uint8_t* i420, ImageView bgr);
void nv12_to_bgr(const std::uint8_t* nv12, ImageView bgr);

// The pictures of a batch stand one after another, yuv420_bytes() each.
void bgr_to_i420(ConstBatchView bgr, std::uint8_t* i420);
void bgr_to_nv12(ConstBatchView bgr, std::uint8_t* nv12);
void i420_to_bgr(const std::uint8_t* i420, BatchView bgr);
void nv12_to_bgr(const std::uint8_t* nv12, BatchView bgr);

}  // namespace navtalk
