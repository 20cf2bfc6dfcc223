// A face in its frame as the CPU puts it there: NV12 to BGR, compose(), and back; and such a frame in another size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/image/color.h"
#include "gpu/image/compose.h"
#include "gpu/image/resize.h"

namespace navtalk::tests {

struct TwinPaste {
  Placement placement{};
  Box mask_region{};  // in the crop box's coordinates
  FaceFinish finish{};
  float lips = 1;  // how much of the face is seen
};

// `nv12` of width x height with the face [256,256,3] BGR in it, in the 2x2 pixels that it touches; elsewhere the frame's own bytes. `mask`
// covers the region.
inline std::vector<std::uint8_t> pasted_by_twins(const std::vector<std::uint8_t>& nv12, int width,
                                                 int height, ConstImageView face,
                                                 ConstImageView mask, const TwinPaste& paste) {
  Image bgr(width, height);
  nv12_to_bgr(nv12.data(), bgr.view());
  const Image before = bgr;
  compose(bgr.view(), face, paste.placement, mask, paste.mask_region, paste.finish);
  for (std::size_t i = 0; i < bgr.pixels.size(); ++i) {
    const auto value = static_cast<float>(bgr.pixels[i]),
               under = static_cast<float>(before.pixels[i]);
    bgr.pixels[i] = static_cast<std::uint8_t>(value + (1 - paste.lips) * (under - value) + 0.5F);
  }
  std::vector<std::uint8_t> made(nv12.size()), out = nv12;
  bgr_to_nv12(bgr.view(), made.data());
  const Box& crop = paste.placement.crop_box;
  const Box shown =
      intersection(intersection(paste.placement.box, paste.mask_region.moved(crop.x1, crop.y1)),
                   Box{0, 0, width, height});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int qx = x / 2 * 2, qy = y / 2 * 2;
      if (qx >= shown.x2 || qx + 2 <= shown.x1 || qy >= shown.y2 || qy + 2 <= shown.y1) continue;
      const std::size_t luma = static_cast<std::size_t>(y) * width + x;
      const std::size_t chroma = static_cast<std::size_t>(width) * (height + y / 2) + x;
      out[luma] = made[luma];
      out[chroma] = made[chroma];
    }
  return out;
}

inline std::vector<std::uint8_t> scaled_by_twins(const std::vector<std::uint8_t>& nv12, int width,
                                                 int height, int to_width, int to_height) {
  Image bgr(width, height), scaled(to_width, to_height);
  nv12_to_bgr(nv12.data(), bgr.view());
  resize(bgr.view(), scaled.view(), Interpolation::linear);
  std::vector<std::uint8_t> made(yuv420_bytes(to_width, to_height));
  bgr_to_nv12(scaled.view(), made.data());
  return made;
}

}  // namespace navtalk::tests
