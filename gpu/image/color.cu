// One thread takes 2x2 pixels, which share their chroma.
#include "gpu/image/color.h"

#include "core/base/check.h"
#include "gpu/cuda/kernel.h"
#include "gpu/image/device/color.h"
#include "gpu/image/device/image.h"

namespace navtalk::cuda {
namespace {

// Where a picture's chroma lies: interleaved after the luma (NV12), or two planes (I420).
struct Chroma {
  std::ptrdiff_t u, v, row, step;
};
Chroma chroma_of(int width, int height, bool interleaved) {
  const std::ptrdiff_t pixels = std::ptrdiff_t{width} * height;
  return interleaved ? Chroma{pixels, pixels + 1, width, 2}
                     : Chroma{pixels, pixels + pixels / 4, width / 2, 1};
}

__global__ void to_yuv_kernel(ConstPixels bgr, std::uint8_t* yuv, Chroma chroma) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (2 * column >= bgr.width || 2 * row >= bgr.height) return;
  std::uint8_t* out =
      yuv + blockIdx.z * (static_cast<std::ptrdiff_t>(bgr.width) * bgr.height * 3 / 2);
  Bgr mean{0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    const int x = 2 * column + i % 2, y = 2 * row + i / 2;
    const std::uint8_t* at =
        bgr.data + blockIdx.z * bgr.image_stride + y * bgr.row_stride + x * bgr.pixel_stride;
    const Bgr pixel{static_cast<float>(at[0]), static_cast<float>(at[bgr.channel_stride]),
                    static_cast<float>(at[2 * bgr.channel_stride])};
    out[static_cast<std::ptrdiff_t>(y) * bgr.width + x] = luma(pixel);
    mean.b += 0.25F * pixel.b;
    mean.g += 0.25F * pixel.g;
    mean.r += 0.25F * pixel.r;
  }
  out[chroma.u + row * chroma.row + column * chroma.step] = chroma_blue(mean);
  out[chroma.v + row * chroma.row + column * chroma.step] = chroma_red(mean);
}

__global__ void from_yuv_kernel(const std::uint8_t* yuv, Pixels bgr, Chroma chroma) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (2 * column >= bgr.width || 2 * row >= bgr.height) return;
  const std::uint8_t* from =
      yuv + blockIdx.z * (static_cast<std::ptrdiff_t>(bgr.width) * bgr.height * 3 / 2);
  const int u = from[chroma.u + row * chroma.row + column * chroma.step];
  const int v = from[chroma.v + row * chroma.row + column * chroma.step];
  for (int i = 0; i < 4; ++i) {
    const int x = 2 * column + i % 2, y = 2 * row + i / 2;
    const Bgr pixel = from_yuv(from[static_cast<std::ptrdiff_t>(y) * bgr.width + x], u, v);
    std::uint8_t* at =
        bgr.data + blockIdx.z * bgr.image_stride + y * bgr.row_stride + x * bgr.pixel_stride;
    at[0] = level(pixel.b);
    at[bgr.channel_stride] = level(pixel.g);
    at[2 * bgr.channel_stride] = level(pixel.r);
  }
}

template <class Byte>
void check_even(const BasicPixels<Byte>& bgr) {
  NAVTALK_CHECK(bgr.channels == 3 && bgr.width % 2 == 0 && bgr.height % 2 == 0);
}
template <class Byte>
dim3 grid_of(const BasicPixels<Byte>& bgr, dim3 block) {
  return {blocks(bgr.width / 2, block.x), blocks(bgr.height / 2, block.y),
          static_cast<unsigned>(bgr.count)};
}

void to_yuv(ConstPixels bgr, std::uint8_t* yuv, bool interleaved, Stream stream) {
  check_even(bgr);
  const dim3 block(32, 8);
  NAVTALK_LAUNCH(to_yuv_kernel, grid_of(bgr, block), block, 0, stream, bgr, yuv,
                 chroma_of(bgr.width, bgr.height, interleaved));
}
void from_yuv(const std::uint8_t* yuv, Pixels bgr, bool interleaved, Stream stream) {
  check_even(bgr);
  const dim3 block(32, 8);
  NAVTALK_LAUNCH(from_yuv_kernel, grid_of(bgr, block), block, 0, stream, yuv, bgr,
                 chroma_of(bgr.width, bgr.height, interleaved));
}

}  // namespace

void bgr_to_nv12(ConstPixels bgr, std::uint8_t* nv12, Stream stream) {
  to_yuv(bgr, nv12, true, stream);
}
void bgr_to_i420(ConstPixels bgr, std::uint8_t* i420, Stream stream) {
  to_yuv(bgr, i420, false, stream);
}
void nv12_to_bgr(const std::uint8_t* nv12, Pixels bgr, Stream stream) {
  from_yuv(nv12, bgr, true, stream);
}
void i420_to_bgr(const std::uint8_t* i420, Pixels bgr, Stream stream) {
  from_yuv(i420, bgr, false, stream);
}

}  // namespace navtalk::cuda
