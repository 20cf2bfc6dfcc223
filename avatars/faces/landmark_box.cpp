#include "avatars/faces/landmark_box.h"

#include <algorithm>
#include <array>

namespace navtalk {
namespace {

constexpr std::size_t k_nose_bridge = 29;  // of the face's points

struct Pixel {
  int x = 0, y = 0;
};

std::array<Pixel, k_face_points> face_pixels(const std::vector<PosePoint>& points) {
  std::array<Pixel, k_face_points> pixels;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const PosePoint& point = points.at(k_first_face_point + i);
    pixels.at(i) = {static_cast<int>(point.x), static_cast<int>(point.y)};
  }
  return pixels;
}

}  // namespace

std::optional<Box> landmark_box(const std::vector<PosePoint>& points, const Box& detected,
                                const LandmarkBoxOptions& options, int frame_width,
                                int frame_height) {
  std::array<Pixel, k_face_points> face = face_pixels(points);
  Pixel& bridge = face.at(k_nose_bridge);
  bridge.y += options.bbox_shift;  // before the lowest point is looked for, as MuseTalk does
  const auto [left, right] = std::ranges::minmax(face, {}, &Pixel::x);
  const int bottom = std::ranges::max(face, {}, &Pixel::y).y;
  const int top = std::max(0, bridge.y - (bottom - bridge.y));
  Box box{left.x, top, right.x, bottom};
  if (box.empty() || box.x1 < 0) box = detected;
  box.y2 = std::min(box.y2 + options.extra_margin, frame_height);
  box = intersection(box, {0, 0, frame_width, frame_height});
  return box.empty() ? std::nullopt : std::optional(box);
}

}  // namespace navtalk
