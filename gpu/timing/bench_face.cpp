#include "gpu/timing/bench_face.h"

#include "gpu/image/color.h"
#include "gpu/nets/net_config.h"

namespace navtalk::bench_face {
namespace {

constexpr std::uint8_t k_share = 200;  // of the face, in the mask

FrameContent content(std::int64_t index) {
  FrameContent made{
      .nv12 = std::vector<std::uint8_t>(yuv420_bytes(k_width, k_height)),
      .mask = std::vector<std::uint8_t>(
          static_cast<std::size_t>(k_mask_region.width()) * k_mask_region.height(), k_share),
      .latent = noise({1, 8, k_latent_size, k_latent_size})};
  for (std::size_t i = 0; i < made.nv12.size(); ++i)
    made.nv12[i] = static_cast<std::uint8_t>(
        60 + (i * 31 + i / k_width * 7 + static_cast<std::size_t>(index)) % 140);
  return made;
}

}  // namespace

NdArray<float> noise(const Shape& shape) {
  NdArray<float> array(shape);
  std::uint32_t state = 1;
  for (float& value : array.values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return array;
}

PlacedFrame placed_frame(const std::shared_ptr<const void>& avatar, std::int64_t index) {
  return {.avatar = avatar,
          .frame = index,
          .width = k_width,
          .height = k_height,
          .placement = k_placement,
          .mask_region = k_mask_region,
          .load = [index] { return content(index); }};
}

}  // namespace navtalk::bench_face
