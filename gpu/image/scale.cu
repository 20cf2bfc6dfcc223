// One thread makes 2x2 pixels, which share their chroma. Each of them is made of four of the frame, in their colours.
#include "gpu/image/scale.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/color.h"
#include "gpu/image/device/sampling.h"

namespace navtalk::cuda {
namespace {

constexpr std::size_t k_most_frames = 32;  // of one launch; they travel as its parameters

struct Scaling {
  FrameScale frame[k_most_frames];
  int width, height, to_width, to_height;
  double scale_x, scale_y;
};

struct Levels {
  int bgr[3];
};

__device__ Levels levels_at(const Scaling& scaling, const std::uint8_t* nv12, int x, int y) {
  const std::ptrdiff_t pitch = scaling.width;
  const std::uint8_t* chroma = nv12 + pitch * (scaling.height + y / 2) + x / 2 * 2;
  const Bgr pixel = from_yuv(nv12[y * pitch + x], chroma[0], chroma[1]);
  return {{level(pixel.b), level(pixel.g), level(pixel.r)}};
}

__device__ Bgr sampled(const Scaling& scaling, const std::uint8_t* nv12, int x, int y) {
  const LinearTap across = column_tap(x, scaling.scale_x, scaling.width),
                  down = row_tap(y, scaling.scale_y, scaling.height);
  const Levels upper_left = levels_at(scaling, nv12, across.first, down.first),
               upper_right = levels_at(scaling, nv12, across.second, down.first),
               lower_left = levels_at(scaling, nv12, across.first, down.second),
               lower_right = levels_at(scaling, nv12, across.second, down.second);
  float made[3];
  for (int c = 0; c < 3; ++c)
    made[c] = static_cast<float>(bilinear(across, down, upper_left.bgr[c], upper_right.bgr[c],
                                          lower_left.bgr[c], lower_right.bgr[c]));
  return {made[0], made[1], made[2]};
}

__global__ void scale_kernel(const __grid_constant__ Scaling scaling) {
  const int x = 2 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            y = 2 * static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= scaling.to_width || y >= scaling.to_height) return;
  const FrameScale& frame = scaling.frame[blockIdx.z];
  const std::ptrdiff_t pitch = scaling.to_width;
  Bgr mean{0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    const int px = x + i % 2, py = y + i / 2;
    const Bgr pixel = sampled(scaling, frame.from, px, py);
    frame.to[py * pitch + px] = luma(pixel);
    mean.b += 0.25F * pixel.b;
    mean.g += 0.25F * pixel.g;
    mean.r += 0.25F * pixel.r;
  }
  std::uint8_t* chroma = frame.to + pitch * (scaling.to_height + y / 2) + x;
  chroma[0] = chroma_blue(mean);
  chroma[1] = chroma_red(mean);
}

}  // namespace

void scale_frames(std::span<const FrameScale> frames, int width, int height, int to_width,
                  int to_height, Stream stream) {
  const auto even = [](int side) { return side > 0 && side % 2 == 0; };
  NAVTALK_CHECK(even(width) && even(height) && even(to_width) && even(to_height));
  for (std::size_t first = 0; first < frames.size(); first += k_most_frames) {
    const auto some = frames.subspan(first, std::min(k_most_frames, frames.size() - first));
    Scaling scaling{.frame = {},
                    .width = width,
                    .height = height,
                    .to_width = to_width,
                    .to_height = to_height,
                    .scale_x = sampling_scale(width, to_width),
                    .scale_y = sampling_scale(height, to_height)};
    std::copy(some.begin(), some.end(), scaling.frame);
    const dim3 block(32, 8);
    const dim3 grid(blocks(to_width / 2, block.x), blocks(to_height / 2, block.y),
                    static_cast<unsigned>(some.size()));
    NAVTALK_LAUNCH(scale_kernel, grid, block, 0, stream, scaling);
  }
}

}  // namespace navtalk::cuda
