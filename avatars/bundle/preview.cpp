#include "avatars/bundle/preview.h"

#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk {
namespace {

using Colour = std::array<std::uint8_t, 3>;  // B, G, R

constexpr Colour k_box{60, 220, 60}, k_seam{0, 230, 255}, k_tint{200, 60, 220},
    k_point{255, 120, 0};
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

// So large that they are seen on the contact sheet.
void draw_points(ImageView image, const FacePoints& points) {
  const int reach = std::max(1, image.width / 400);
  for (const FacePoint& point : points)
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) put(image, point.x + dx, point.y + dy, k_point);
}

// A frame whose face is replaced.
Image drawn(const Bundle& avatar, std::int64_t i) {
  const AvatarFace& face = *avatar.face(i);
  Image picture = avatar.frame(i);
  const Placement& place = face.placement;
  draw_mask(picture.view(), avatar.mask(i), place.crop_box.x1 + face.mask_region.x1,
            place.crop_box.y1 + face.mask_region.y1);
  draw_box(picture.view(), place.box);
  draw_points(picture.view(), face.landmarks);
  return picture;
}

cv::Mat mat_of(ImageView image) {
  return {image.height, image.width, CV_8UC3, image.data, static_cast<std::size_t>(image.stride)};
}

void write_number(ImageView image, std::int64_t number) {
  cv::Mat pixels = mat_of(image);
  const std::string text = std::to_string(number);
  // Dark around light, so that it is read on every picture.
  for (const auto& [grey, thickness] : {std::pair(0, 4), std::pair(255, 1)})
    cv::putText(pixels, text, {6, 20}, cv::FONT_HERSHEY_SIMPLEX, 0.6, cv::Scalar::all(grey),
                thickness, cv::LINE_AA);
}

constexpr std::int64_t k_sheet_frames = 12;
constexpr int k_sheet_columns = 4, k_sheet_width = 320, k_sheet_gap = 4;

}  // namespace

Image preview(const Bundle& avatar) {
  for (std::int64_t i = 0; i < avatar.frame_count(); ++i) {
    if (avatar.face(i)) return drawn(avatar, i);
  }
  throw Error(Code::invalid, "the avatar " + avatar.info().id + " shows no face in any frame");
}

Image contact_sheet(const Bundle& avatar) {
  const std::int64_t shown = std::min(k_sheet_frames, avatar.frame_count());
  const int columns = static_cast<int>(std::min<std::int64_t>(k_sheet_columns, shown));
  const int rows = static_cast<int>((shown + columns - 1) / columns);
  const AvatarInfo& info = avatar.info();
  const int height = std::max(1, k_sheet_width * info.height / info.width);
  Image sheet(columns * (k_sheet_width + k_sheet_gap) - k_sheet_gap,
              rows * (height + k_sheet_gap) - k_sheet_gap, 3);
  for (std::int64_t k = 0; k < shown; ++k) {
    const std::int64_t i = shown == 1 ? 0 : k * (avatar.frame_count() - 1) / (shown - 1);
    Image picture = avatar.face(i) ? drawn(avatar, i) : avatar.frame(i);
    const int x = static_cast<int>(k % columns) * (k_sheet_width + k_sheet_gap);
    const int y = static_cast<int>(k / columns) * (height + k_sheet_gap);
    const ImageView place = sheet.view().crop({x, y, x + k_sheet_width, y + height});
    cv::Mat smaller = mat_of(place);
    cv::resize(mat_of(picture.view()), smaller, smaller.size(), 0, 0, cv::INTER_AREA);
    write_number(place, i);
  }
  return sheet;
}

}  // namespace navtalk
