// Images in device memory, one or a batch, interleaved or planar: [H,W,C], [B,H,W,C], [B,C,H,W]. And the kernels on them; each has
// its twin on the CPU in the header of the same name. Launches return at once; errors of the launch are thrown, what happens on the
// device is seen when the stream is waited for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/stream.h"
#include "gpu/image/unsharp.h"

namespace navtalk::cuda {

// The value of picture n, row y, column x, channel c is data[n * image_stride + y * row_stride + x * pixel_stride +
// c * channel_stride]; strides count bytes.
template <class Byte>
struct BasicPixels {
  Byte* data = nullptr;
  int count = 0, height = 0, width = 0, channels = 3;
  std::ptrdiff_t image_stride = 0, row_stride = 0, pixel_stride = 0, channel_stride = 0;

  operator BasicPixels<const Byte>() const {
    return {data,         count,      height,       width,         channels,
            image_stride, row_stride, pixel_stride, channel_stride};
  }
};
using Pixels = BasicPixels<std::uint8_t>;
using ConstPixels = BasicPixels<const std::uint8_t>;

// [B,H,W,C] without gaps.
template <class Byte>
BasicPixels<Byte> interleaved(Byte* data, int count, int height, int width, int channels = 3) {
  const std::ptrdiff_t row = std::ptrdiff_t{width} * channels;
  return {data, count, height, width, channels, row * height, row, channels, 1};
}
// [B,C,H,W] without gaps.
template <class Byte>
BasicPixels<Byte> planar(Byte* data, int count, int height, int width, int channels = 3) {
  const std::ptrdiff_t plane = std::ptrdiff_t{width} * height;
  return {data, count, height, width, channels, plane * channels, width, 1, plane};
}

// Bilinear; the destination's size says the scale. Same bytes as navtalk::resize. Neither may overlap the other.
void resize(ConstPixels source, Pixels destination, Stream stream);

// size is odd, at most 63; sigma as in navtalk::gaussian_blur, whose bytes these are. Neither may overlap the other.
void gaussian_blur(ConstPixels source, Pixels destination, int size, double sigma, Stream stream);

// Same bytes as navtalk::unsharp_mask. Neither may overlap the other.
void unsharp_mask(ConstPixels source, Pixels destination, const Unsharp& unsharp, Stream stream);

// In place; the mask has one channel. Same bytes as navtalk::blend.
void blend(Pixels base, ConstPixels overlay, ConstPixels mask, Stream stream);

// BGR to and from BT.709 pictures as in color.h, one after another, width * height * 3 / 2 bytes each. Within one level of the twins.
void bgr_to_nv12(ConstPixels bgr, std::uint8_t* nv12, Stream stream);
void bgr_to_i420(ConstPixels bgr, std::uint8_t* i420, Stream stream);
void nv12_to_bgr(const std::uint8_t* nv12, Pixels bgr, Stream stream);
void i420_to_bgr(const std::uint8_t* i420, Pixels bgr, Stream stream);

}  // namespace navtalk::cuda
