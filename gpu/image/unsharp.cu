// A block sharpens 32x8 values of one channel; the small blur's neighbourhood lies in shared memory.
#include "gpu/image/unsharp.h"

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/image.h"
#include "gpu/image/device/sampling.h"
#include "gpu/image/device/unsharp.h"
#include "gpu/image/gaussian_blur.h"

namespace navtalk::cuda {
namespace {

constexpr int k_columns = 32, k_rows = 8;
constexpr int k_tile_columns = k_columns + 2 * k_unsharp_reach,
              k_tile_rows = k_rows + 2 * k_unsharp_reach;

__global__ void unsharp_kernel(ConstPixels source, Pixels destination, Sharpening sharpening) {
  __shared__ std::uint8_t tile[k_tile_rows][k_tile_columns];
  const int channel = static_cast<int>(blockIdx.z) % source.channels,
            image = static_cast<int>(blockIdx.z) / source.channels;
  const std::uint8_t* from =
      source.data + image * source.image_stride + channel * source.channel_stride;
  const int left = static_cast<int>(blockIdx.x) * k_columns,
            top = static_cast<int>(blockIdx.y) * k_rows;
  const int self = static_cast<int>(threadIdx.y) * k_columns + static_cast<int>(threadIdx.x);
  for (int i = self; i < k_tile_rows * k_tile_columns; i += k_columns * k_rows) {
    const int x = reflected(left + i % k_tile_columns - k_unsharp_reach, source.width);
    const int y = reflected(top + i / k_tile_columns - k_unsharp_reach, source.height);
    tile[i / k_tile_columns][i % k_tile_columns] =
        from[y * source.row_stride + x * source.pixel_stride];
  }
  __syncthreads();
  const int x = left + static_cast<int>(threadIdx.x), y = top + static_cast<int>(threadIdx.y);
  if (x >= source.width || y >= source.height) return;
  const std::uint8_t* around = &tile[threadIdx.y][threadIdx.x];
  destination.data[image * destination.image_stride + y * destination.row_stride +
                   x * destination.pixel_stride + channel * destination.channel_stride] =
      sharpened(around, k_tile_columns, sharpening);
}

}  // namespace

Sharpening make_sharpening(const Unsharp& unsharp) {
  Sharpening sharpening{{}, unsharp.amount, unsharp.threshold};
  const std::vector<int> weights = gaussian_taps(k_sharpening_taps, unsharp.sigma);
  for (int k = 0; k < k_sharpening_taps; ++k)
    sharpening.weight[k] = weights[static_cast<std::size_t>(k)];
  return sharpening;
}

void unsharp_mask(ConstPixels source, Pixels destination, const Unsharp& unsharp, Stream stream) {
  NAVTALK_CHECK(source.count == destination.count && source.channels == destination.channels &&
                source.width == destination.width && source.height == destination.height);
  const dim3 block(k_columns, k_rows);
  const dim3 grid(blocks(source.width, k_columns), blocks(source.height, k_rows),
                  static_cast<unsigned>(source.count * source.channels));
  NAVTALK_LAUNCH(unsharp_kernel, grid, block, 0, stream, source, destination,
                 make_sharpening(unsharp));
}

}  // namespace navtalk::cuda
