// A block makes 32x8 values of one channel. It filters the rows it needs horizontally into shared memory, then down:
//
//   source, 8 + 2 reach rows  --across-->  shared [8 + 2 reach][32]  --down-->  32x8 values
#include "gpu/image/gaussian_blur.h"

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/image.h"
#include "gpu/image/device/sampling.h"

namespace navtalk::cuda {
namespace {

constexpr int k_most_taps = 63;
constexpr unsigned k_columns = 32, k_rows = 8;

// Weights of 1/256, symmetric; by value, so that a launch needs no memory on the device.
struct Taps {
  int size;
  std::uint16_t weight[k_most_taps];
};

__global__ void gaussian_blur_kernel(ConstPixels source, Pixels destination, Taps taps) {
  NAVTALK_DYNAMIC_SHARED(std::uint16_t, filtered);
  const int reach = taps.size / 2;
  const int channel = static_cast<int>(blockIdx.z) % source.channels,
            image = static_cast<int>(blockIdx.z) / source.channels;
  const std::uint8_t* from =
      source.data + image * source.image_stride + channel * source.channel_stride;
  const int x = static_cast<int>(blockIdx.x * k_columns + threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * k_rows);
  for (int row = static_cast<int>(threadIdx.y); row < static_cast<int>(k_rows) + 2 * reach;
       row += k_rows) {
    const std::uint8_t* line =
        from + reflected(top + row - reach, source.height) * source.row_stride;
    int sum = 0;
    for (int k = 0; k < taps.size && x < source.width; ++k)
      sum += taps.weight[k] * line[reflected(x + k - reach, source.width) * source.pixel_stride];
    filtered[row * k_columns + threadIdx.x] = static_cast<std::uint16_t>(sum);
  }
  __syncthreads();
  const int y = top + static_cast<int>(threadIdx.y);
  if (x >= source.width || y >= source.height) return;
  std::uint32_t sum = 1U << 15;
  for (int k = 0; k < taps.size; ++k)
    sum += std::uint32_t{taps.weight[k]} * filtered[(threadIdx.y + k) * k_columns + threadIdx.x];
  destination.data[image * destination.image_stride + y * destination.row_stride +
                   x * destination.pixel_stride + channel * destination.channel_stride] =
      static_cast<std::uint8_t>(sum >> 16);
}

}  // namespace

void gaussian_blur(ConstPixels source, Pixels destination, int size, double sigma, Stream stream) {
  NAVTALK_CHECK(source.count == destination.count && source.channels == destination.channels &&
                source.width == destination.width && source.height == destination.height &&
                size <= k_most_taps);
  const std::vector<int> weights = gaussian_taps(size, sigma);
  Taps taps{size, {}};
  for (int k = 0; k < size; ++k)
    taps.weight[k] = static_cast<std::uint16_t>(weights[static_cast<std::size_t>(k)]);
  const dim3 block(k_columns, k_rows);
  const dim3 grid(blocks(source.width, k_columns), blocks(source.height, k_rows),
                  static_cast<unsigned>(source.count * source.channels));
  const std::size_t shared =
      (k_rows + 2 * static_cast<std::size_t>(size / 2)) * k_columns * sizeof(std::uint16_t);
  NAVTALK_LAUNCH(gaussian_blur_kernel, grid, block, shared, stream, source, destination, taps);
}

}  // namespace navtalk::cuda
