// One thread a pixel. The arithmetic is OpenCV's for 8 bits: weights of 1/2048, four bits dropped between the two directions.
#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/image.h"
#include "gpu/image/device/sampling.h"

namespace navtalk::cuda {
namespace {

__global__ void resize_kernel(ConstPixels source, Pixels destination, double scale_x,
                              double scale_y) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= destination.width || y >= destination.height) return;
  const LinearTap across = column_tap(x, scale_x, source.width);
  const LinearTap down = row_tap(y, scale_y, source.height);
  const std::uint8_t* image = source.data + blockIdx.z * source.image_stride;
  const std::uint8_t* upper = image + down.first * source.row_stride;
  const std::uint8_t* lower = image + down.second * source.row_stride;
  std::uint8_t* out = destination.data + blockIdx.z * destination.image_stride +
                      y * destination.row_stride + x * destination.pixel_stride;
  const std::ptrdiff_t left = across.first * source.pixel_stride,
                       right = across.second * source.pixel_stride;
  for (int c = 0; c < source.channels; ++c) {
    const std::ptrdiff_t channel = c * source.channel_stride;
    out[c * destination.channel_stride] = static_cast<std::uint8_t>(
        bilinear(across, down, upper[left + channel], upper[right + channel], lower[left + channel],
                 lower[right + channel]));
  }
}

}  // namespace

void resize(ConstPixels source, Pixels destination, Stream stream) {
  NAVTALK_CHECK(source.count == destination.count && source.channels == destination.channels);
  NAVTALK_CHECK(source.width > 0 && source.height > 0);
  const dim3 block(32, 8);
  const dim3 grid(blocks(destination.width, block.x), blocks(destination.height, block.y),
                  static_cast<unsigned>(source.count));
  NAVTALK_LAUNCH(resize_kernel, grid, block, 0, stream, source, destination,
                 sampling_scale(source.width, destination.width),
                 sampling_scale(source.height, destination.height));
}

}  // namespace navtalk::cuda
