// One picture of video in NV12, BT.709 limited range: Y, then U and V interleaved, without gaps, width * height * 3 / 2 bytes in host
// memory, which somebody else owns. Width and height are even.
#pragma once

#include <cstdint>

namespace navtalk {

struct Nv12View {
  const std::uint8_t* data = nullptr;
  int width = 0, height = 0;
};

}  // namespace navtalk
