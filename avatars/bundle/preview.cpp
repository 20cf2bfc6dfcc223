#include "avatars/bundle/preview.h"

#include <array>

#include "core/base/error.h"

namespace navtalk {
namespace {

using Colour = std::array<std::uint8_t, 3>;  // B, G, R

constexpr Colour k_box{60, 220, 60}, k_seam{0, 230, 255}, k_tint{200, 60, 220};
constexpr int k_half = 128, k_tint_percent = 40;

void put(ImageView image, int x, int y, const Colour& colour) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  for (int c = 0; c < 3; ++c) image.at(x, y)[c] = colour[static_cast<std::size_t>(c)];
}

// Two pixels wide, so that it is seen in a picture that is shown smaller.
void draw_box(ImageView image, const Box& box) {
  for (int inset = 0; inset < 2; ++inset) {
    for (int x = box.x1; x < box.x2; ++x) {
      put(image, x, box.y1 + inset, k_box);
      put(image, x, box.y2 - 1 - inset, k_box);
    }
    for (int y = box.y1; y < box.y2; ++y) {
      put(image, box.x1 + inset, y, k_box);
      put(image, box.x2 - 1 - inset, y, k_box);
    }
  }
}

void draw_mask(ImageView image, ConstImageView mask, int left, int top) {
  const auto inside = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < mask.width && y < mask.height && *mask.at(x, y) >= k_half;
  };
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (left + x < 0 || top + y < 0 || left + x >= image.width || top + y >= image.height)
        continue;
      const bool seam = inside(x, y) && !(inside(x - 1, y) && inside(x + 1, y) &&
                                          inside(x, y - 1) && inside(x, y + 1));
      std::uint8_t* pixel = image.at(left + x, top + y);
      const int weight = *mask.at(x, y) * k_tint_percent / 100;
      for (int c = 0; c < 3; ++c) {
        const int tint = k_tint[static_cast<std::size_t>(c)];
        pixel[c] = static_cast<std::uint8_t>(pixel[c] + (tint - pixel[c]) * weight / 255);
      }
      if (seam) put(image, left + x, top + y, k_seam);
    }
  }
}

}  // namespace

Image preview(const Bundle& avatar) {
  for (std::int64_t i = 0; i < avatar.frame_count(); ++i) {
    const std::optional<AvatarFace>& face = avatar.face(i);
    if (!face) continue;
    Image picture = avatar.frame(i);
    const Placement& place = face->placement;
    draw_mask(picture.view(), avatar.mask(i), place.crop_box.x1 + face->mask_region.x1,
              place.crop_box.y1 + face->mask_region.y1);
    draw_box(picture.view(), place.box);
    return picture;
  }
  throw Error(Code::invalid, "the avatar " + avatar.info().id + " shows no face in any frame");
}

}  // namespace navtalk
