// One picture of video in planar YUV 4:2:0, BT.709 limited range: planes Y, U, V one after the other, without
// gaps, width * height * 3 / 2 bytes. Width and height are even. A value without locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace navtalk {

struct I420Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes;

  I420Picture() = default;
  I420Picture(int w, int h)
      : width(w),
        height(h),
        bytes(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 3 / 2) {}

  const std::uint8_t* y() const { return bytes.data(); }
  const std::uint8_t* u() const { return y() + pixels(); }
  const std::uint8_t* v() const { return u() + pixels() / 4; }
  bool operator==(const I420Picture&) const = default;

 private:
  std::ptrdiff_t pixels() const { return static_cast<std::ptrdiff_t>(width) * height; }
};

}  // namespace navtalk
