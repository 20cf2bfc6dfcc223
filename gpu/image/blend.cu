// One thread a pixel.
#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/image.h"
#include "gpu/image/device/sampling.h"

namespace navtalk::cuda {
namespace {

__global__ void blend_kernel(Pixels base, ConstPixels overlay, ConstPixels mask) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= base.width || y >= base.height) return;
  const int share =
      mask.data[blockIdx.z * mask.image_stride + y * mask.row_stride + x * mask.pixel_stride];
  if (share == 0) return;
  std::uint8_t* to =
      base.data + blockIdx.z * base.image_stride + y * base.row_stride + x * base.pixel_stride;
  const std::uint8_t* from = overlay.data + blockIdx.z * overlay.image_stride +
                             y * overlay.row_stride + x * overlay.pixel_stride;
  for (int c = 0; c < base.channels; ++c) {
    std::uint8_t& value = to[c * base.channel_stride];
    value = static_cast<std::uint8_t>(
        divided_by_255(value * (255 - share) + from[c * overlay.channel_stride] * share));
  }
}

}  // namespace

void blend(Pixels base, ConstPixels overlay, ConstPixels mask, Stream stream) {
  NAVTALK_CHECK(mask.channels == 1 && base.channels == overlay.channels);
  NAVTALK_CHECK(base.count == overlay.count && base.count == mask.count &&
                base.width == overlay.width && base.width == mask.width &&
                base.height == overlay.height && base.height == mask.height);
  const dim3 block(32, 8);
  const dim3 grid(blocks(base.width, block.x), blocks(base.height, block.y),
                  static_cast<unsigned>(base.count));
  NAVTALK_LAUNCH(blend_kernel, grid, block, 0, stream, base, overlay, mask);
}

}  // namespace navtalk::cuda
