// N images of one size in one buffer, [N,H,W,C]: what an operation takes when several frames are at
// hand. On the CPU a batch is a loop; a GPU takes it in one launch.
#pragma once

#include <cstdint>

#include "core/base/check.h"
#include "core/tensor/image.h"

namespace navtalk {

// Image n starts at data + n * image_stride; stride and image_stride count bytes.
template <class Byte>
struct BasicBatchView {
  Byte* data = nullptr;
  int count = 0, width = 0, height = 0, channels = 3;
  std::ptrdiff_t stride = 0, image_stride = 0;

  BasicImageView<Byte> operator[](int n) const {
    return {data + n * image_stride, width, height, channels, stride};
  }
  operator BasicBatchView<const Byte>() const {
    return {data, count, width, height, channels, stride, image_stride};
  }
};
using BatchView = BasicBatchView<std::uint8_t>;
using ConstBatchView = BasicBatchView<const std::uint8_t>;

// A batch without gaps: data holds count * height * width * channels bytes.
template <class Byte>
BasicBatchView<Byte> dense_batch(Byte* data, int count, int width, int height, int channels = 3) {
  const std::ptrdiff_t stride = std::ptrdiff_t{width} * channels;
  return {data, count, width, height, channels, stride, stride * height};
}

// Calls operation(source[n], destination[n]) for every n.
template <class Operation>
void for_each_image(ConstBatchView source, BatchView destination, Operation operation) {
  NAVTALK_CHECK(source.count == destination.count);
  for (int n = 0; n < source.count; ++n) operation(source[n], destination[n]);
}

}  // namespace navtalk
