#include "avatars/faces/landmark_box.h"

#include <algorithm>
#include <span>
#include <string>

#include "core/log/log.h"

namespace navtalk {
namespace {

static_assert(k_face_points == k_face_point_count);

// Of the face's points.
constexpr std::size_t k_jaw_points = 17, k_chin = 8, k_nose_bridge = 29, k_nose_tip = 30;
constexpr double k_end = 0.05;  // of the jaw's width

double mean_height(std::span<const FacePoint> points) {
  double sum = 0;
  for (const FacePoint& point : points) sum += point.y;
  return sum / static_cast<double>(points.size());
}

// Before the margin; may reach outside.
Box box_of(FacePoints face, int bbox_shift) {
  FacePoint& bridge = face.at(k_nose_bridge);
  bridge.y += bbox_shift;  // before the lowest point is looked for, as MuseTalk does
  const auto [left, right] = std::ranges::minmax(face, {}, &FacePoint::x);
  const int bottom = std::ranges::max(face, {}, &FacePoint::y).y;
  const int top = std::max(0, bridge.y - (bottom - bridge.y));
  return {left.x, top, right.x, bottom};
}

bool is_usable(const Box& box) { return !box.empty() && box.x1 >= 0; }

}  // namespace

bool gives_box(const FacePoints& points, const LandmarkBoxOptions& options) {
  return is_usable(box_of(points, options.bbox_shift));
}

FacePoints face_points(const std::vector<PosePoint>& points) {
  FacePoints face(k_face_points);
  for (std::size_t i = 0; i < face.size(); ++i) {
    const PosePoint& point = points.at(k_first_face_point + i);
    face[i] = {static_cast<int>(point.x), static_cast<int>(point.y)};
  }
  return face;
}

bool is_profile(const FacePoints& points) {
  const std::span face = std::span(points).first(k_face_points);
  const double eyes = mean_height(face.subspan(36, 12)), mouth = mean_height(face.subspan(48));
  const bool upright =
      eyes < face[k_nose_tip].y && face[k_nose_tip].y < mouth && mouth < face[k_chin].y;
  const auto [left, right] = std::ranges::minmax(face.first(k_jaw_points), {}, &FacePoint::x);
  const double width = right.x - left.x;
  if (!upright || width <= 0) return false;
  const double at = (face[k_nose_bridge].x - left.x) / width;
  return at < k_end || at > 1 - k_end;
}

void warn_of_profiles(std::size_t frames) {
  if (frames > 0)
    log::warn("frames that show the face from the side are left as they are",
              {{"frames", std::to_string(frames)}});
}

std::optional<Box> landmark_box(const FacePoints& points, const Box& detected,
                                const LandmarkBoxOptions& options, int frame_width,
                                int frame_height) {
  Box box = box_of(points, options.bbox_shift);
  if (!is_usable(box)) box = detected;
  box.y2 = std::min(box.y2 + options.extra_margin, frame_height);
  box = intersection(box, {0, 0, frame_width, frame_height});
  return box.empty() ? std::nullopt : std::optional(box);
}

}  // namespace navtalk
