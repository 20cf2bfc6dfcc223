// 8-bit images, interleaved [H,W,C], BGR when C is 3. Image owns its pixels; the views do not.
// Value types without locks: share views read-only, or keep them in one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace navtalk {

// Half-open rectangle in pixels: columns x1 to x2-1, rows y1 to y2-1. May reach outside the frame.
struct Box {
  int x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  int width() const { return x2 - x1; }
  int height() const { return y2 - y1; }
  bool empty() const { return x2 <= x1 || y2 <= y1; }
  Box moved(int dx, int dy) const { return {x1 + dx, y1 + dy, x2 + dx, y2 + dy}; }
  bool operator==(const Box&) const = default;
};
// What both cover; empty where they do not meet.
inline Box intersection(const Box& a, const Box& b) {
  return {std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2)};
}

// Row r, column c, channel k is data[r * stride + c * channels + k]; stride counts bytes.
template <class Byte>
struct BasicImageView {
  Byte* data = nullptr;
  int width = 0, height = 0, channels = 3;
  std::ptrdiff_t stride = 0;

  Byte* row(int y) const { return data + y * stride; }
  Byte* at(int x, int y) const { return row(y) + static_cast<std::ptrdiff_t>(x) * channels; }
  // The part under `box`, which must lie inside.
  BasicImageView crop(const Box& box) const {
    return {at(box.x1, box.y1), box.width(), box.height(), channels, stride};
  }
  operator BasicImageView<const Byte>() const { return {data, width, height, channels, stride}; }
};
using ImageView = BasicImageView<std::uint8_t>;
using ConstImageView = BasicImageView<const std::uint8_t>;

struct Image {
  int width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels;

  Image() = default;
  Image(int w, int h, int c = 3)
      : width(w),
        height(h),
        channels(c),
        pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) *
               static_cast<std::size_t>(c)) {}

  ImageView view() {
    return {pixels.data(), width, height, channels, std::ptrdiff_t{width} * channels};
  }
  ConstImageView view() const {
    return {pixels.data(), width, height, channels, std::ptrdiff_t{width} * channels};
  }
  bool operator==(const Image&) const = default;
};

}  // namespace navtalk
