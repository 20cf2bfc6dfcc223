#include "avatars/faces/shape_faces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "avatars/faces/face_smoothing.h"
#include "avatars/faces/search/frame_log.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"

namespace navtalk {
namespace {

constexpr const char* k_predictors[] = {
    "/usr/share/dlib/shape_predictor_68_face_landmarks.dat",
    "/usr/local/share/dlib/shape_predictor_68_face_landmarks.dat"};

// Of a cascade's square, in parts of its side. The predictor was trained on the squares of another detector, which lie like this.
constexpr double k_aside = 0.03, k_down = 0.10, k_side = 0.94;
// Where a box of landmarks and the square that they come from overlap less, the predictor has gone astray.
constexpr double k_least_overlap = 0.3;

Box box_of(const FaceSquare& square) {
  const auto at = [](double value) { return static_cast<int>(std::lround(value)); };
  const double half = square.size / 2;
  return {at(square.centre_x - half), at(square.centre_y - half), at(square.centre_x + half),
          at(square.centre_y + half)};
}

// Found again from the place of its own points, a face that the square frames badly is framed well.
FacePoints points_of(const ShapePredictor& predictor, const Image& picture,
                     const FaceSquare& square) {
  const Shape2d first =
      predictor.points(picture.view(), {.x = square.centre_x - (0.5 - k_aside) * square.size,
                                        .y = square.centre_y - (0.5 - k_down) * square.size,
                                        .size = k_side * square.size});
  FacePoints points;
  for (const ShapePoint& point : predictor.points(picture.view(), predictor.frame_of(first)))
    points.push_back({static_cast<int>(point.x), static_cast<int>(point.y)});
  return points;
}

}  // namespace

std::optional<std::filesystem::path> installed_shape_predictor() {
  for (const char* file : k_predictors) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

ShapeFaces::ShapeFaces(const std::filesystem::path& predictor, FollowOptions follow,
                       const LandmarkBoxOptions& box, std::vector<std::filesystem::path> cascades)
    : predictor_(ShapePredictor::read(predictor)),
      follow_(follow),
      box_(box),
      cascades_(std::move(cascades)),
      identity_(fmt::format("dlib 5 {} {} {}{}{}", box.bbox_shift, box.extra_margin,
                            sha256_file(predictor), follow.smooth ? "" : ", not smoothed",
                            follow.face > 1 ? fmt::format(", face {}", follow.face) : "")) {
  if (predictor_.point_count() != k_face_point_count)
    throw Error(Code::invalid,
                fmt::format("{}: {} points, not the {} of a face", predictor.string(),
                            predictor_.point_count(), k_face_point_count));
}

// Empty where there is no square.
std::vector<FacePoints> ShapeFaces::all_points(
    Clip& clip, const std::vector<std::optional<FaceSquare>>& squares,
    const std::filesystem::path& notes, const Progress& progress,
    const std::stop_token& stop) const {
  std::vector<FacePoints> all;
  FrameLog log(notes, "points.log");
  all.resize(log.resume(squares.size(), 1, [&](std::span<const std::int32_t> numbers) {
    auto points = read_face_points(numbers);
    if (!points || all.size() >= squares.size() ||
        points->empty() == squares[all.size()].has_value())
      return false;
    all.push_back(*std::move(points));
    return true;
  }));
  while (all.size() < squares.size()) {
    throw_if_stopped(stop);
    const std::size_t i = all.size();
    all.push_back(squares[i]
                      ? points_of(predictor_, clip.frame(static_cast<std::int64_t>(i)), *squares[i])
                      : FacePoints());
    log.append(numbers_of(all.back()));
    if (progress) progress("landmarks", all.size(), squares.size());
  }
  return all;
}

FaceBoxes ShapeFaces::find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                           const Progress& progress, const std::stop_token& stop) {
  const FollowedFace followed =
      follow_by_cascades(clip, fps, follow_.face, cascades_, notes, progress, stop);
  auto squares = smooth_faces(followed.boxes, fps);
  std::vector<bool> left_out(squares.size());  // and not bridged
  for (std::size_t i = 0; i < squares.size(); ++i) {
    if (!squares[i] || !is_anothers(followed, i, box_of(*squares[i]))) continue;
    left_out[i] = true;
    squares[i].reset();
  }
  landmarks_.assign(squares.size(), {});
  FaceBoxes boxes(squares.size());
  std::vector<bool> aside(squares.size());
  std::vector<FacePoints> all = all_points(clip, squares, notes, progress, stop);
  for (std::size_t i = 0; i < squares.size(); ++i) {
    if (!squares[i]) continue;
    FacePoints& points = all[i];
    aside[i] = is_profile(points);
    if (aside[i]) {
      left_out[i] = true;
      continue;
    }
    const Box square = box_of(*squares[i]);
    const auto box = landmark_box(points, square, box_, clip.width(), clip.height());
    if (!box || overlap(*box, square) < k_least_overlap) continue;
    boxes[i] = box;
    landmarks_[i] = std::move(points);
  }
  warn_of_profiles(static_cast<std::size_t>(std::count(aside.begin(), aside.end(), true)));
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid,
                "no face was found that looks at the camera; give its position with --face-box");
  if (follow_.smooth) {
    boxes = smooth_boxes(boxes, fps);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (left_out[i]) boxes[i].reset();
      if (boxes[i]) boxes[i] = intersection(*boxes[i], {0, 0, clip.width(), clip.height()});
    }
  }
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
