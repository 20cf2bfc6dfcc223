#include "avatars/faces/mask.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "gpu/image/gaussian_blur.h"

namespace navtalk {
namespace {

constexpr double k_semi_axis = 0.45;  // of the face box's width and height

// The ellipse's pixels become 255.
void fill_ellipse(ImageView canvas, const Box& face) {
  const double centre_x = (face.x1 + face.x2) / 2.0, centre_y = (face.y1 + face.y2) / 2.0;
  const double semi_x = k_semi_axis * face.width(), semi_y = k_semi_axis * face.height();
  for (int y = face.y1; y < face.y2; ++y) {
    const double v = (y + 0.5 - centre_y) / semi_y;
    for (int x = face.x1; x < face.x2; ++x) {
      const double u = (x + 0.5 - centre_x) / semi_x;
      if (u * u + v * v <= 1.0) *canvas.at(x, y) = 255;
    }
  }
}

// The smallest box inside `within` that holds every pixel that is not zero.
Box nonzero_box(ConstImageView mask, const Box& within) {
  Box found{within.x2, within.y2, within.x1, within.y1};
  for (int y = within.y1; y < within.y2; ++y) {
    for (int x = within.x1; x < within.x2; ++x) {
      if (*mask.at(x, y) == 0) continue;
      found = {std::min(found.x1, x), std::min(found.y1, y), std::max(found.x2, x + 1),
               std::max(found.y2, y + 1)};
    }
  }
  return found;
}

Image copy(ConstImageView part) {
  Image image(part.width, part.height, part.channels);
  for (int y = 0; y < part.height; ++y)
    std::copy_n(part.row(y), image.view().stride, image.view().row(y));
  return image;
}

}  // namespace

Box crop_box_of(const Box& face) {
  // Integer arithmetic as in the reference; boxes lie inside the frame, so nothing is negative.
  const int centre_x = (face.x1 + face.x2) / 2, centre_y = (face.y1 + face.y2) / 2;
  const int half = std::max(face.width(), face.height()) / 2 * 3 / 2;
  return {centre_x - half, centre_y - half, centre_x + half, centre_y + half};
}

FaceMask lower_part(const Box& face, Image sharp) {
  const Box crop = crop_box_of(face);
  const int side = crop.width();
  NAVTALK_CHECK(sharp.width == side && sharp.height == side && sharp.channels == 1);
  const Box inner = face.moved(-crop.x1, -crop.y1);
  const Box kept{inner.x1, std::max(inner.y1, side / 2), inner.x2, inner.y2};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      if (y < kept.y1 || y >= kept.y2 || x < kept.x1 || x >= kept.x2) *sharp.view().at(x, y) = 0;
  Image blurred(side, side, 1);
  gaussian_blur(sharp.view(), blurred.view(), 2 * (side / 20) + 1);
  return shown_part(face, crop, blurred.view());
}

FaceMask shown_part(const Box& face, const Box& crop, ConstImageView whole) {
  const Box inner = face.moved(-crop.x1, -crop.y1);
  Box region = nonzero_box(whole, inner);
  if (region.empty()) region = {inner.x1, inner.y1, inner.x1 + 1, inner.y1 + 1};
  return {crop, region, copy(whole.crop(region))};
}

FaceMask lower_face_mask(const Box& face) {
  NAVTALK_CHECK(face.width() >= 8 && face.height() >= 8);
  const Box crop = crop_box_of(face);
  Image sharp(crop.width(), crop.height(), 1);
  fill_ellipse(sharp.view(), face.moved(-crop.x1, -crop.y1));
  return lower_part(face, std::move(sharp));
}

}  // namespace navtalk
