#include "avatars/faces/mask.h"

#include <algorithm>

#include "core/base/check.h"
#include "gpu/image/gaussian_blur.h"

namespace navtalk {
namespace {

constexpr double k_semi_axis = 0.45;  // of the face box's width and height

// The ellipse's pixels on and below row `first_row` become 255.
void fill_ellipse(ImageView canvas, const Box& face, int first_row) {
  const double centre_x = (face.x1 + face.x2) / 2.0, centre_y = (face.y1 + face.y2) / 2.0;
  const double semi_x = k_semi_axis * face.width(), semi_y = k_semi_axis * face.height();
  for (int y = std::max(first_row, face.y1); y < face.y2; ++y) {
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

FaceMask lower_face_mask(const Box& face) {
  NAVTALK_CHECK(face.width() >= 8 && face.height() >= 8);
  const Box crop = crop_box_of(face);
  const Box inner{face.x1 - crop.x1, face.y1 - crop.y1, face.x2 - crop.x1, face.y2 - crop.y1};
  const int side = crop.width();
  Image sharp(side, side, 1), blurred(side, side, 1);
  fill_ellipse(sharp.view(), inner, side / 2);
  gaussian_blur(sharp.view(), blurred.view(), 2 * (side / 20) + 1);
  const Box region = nonzero_box(blurred.view(), inner);
  return {crop, region, copy(blurred.view().crop(region))};
}

}  // namespace navtalk
