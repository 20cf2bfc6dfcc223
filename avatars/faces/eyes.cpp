#include "avatars/faces/eyes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include "avatars/faces/eye_fit.h"
#include "avatars/faces/skin.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr const char* k_eye_cascades[] = {"haarcascades/haarcascade_eye_tree_eyeglasses.xml",
                                          "haarcascades/haarcascade_eye.xml"};
constexpr double k_face_width = 240;  // pixels at which eyes are searched for
constexpr double k_upper_part = 0.6;  // of the face, in which they lie

// The middle of what several detections see, in pixels of the picture.
struct Candidate {
  double x = 0, y = 0;
  int seen = 0;

  void add(double more_x, double more_y) {
    x = (x * seen + more_x) / (seen + 1);
    y = (y * seen + more_y) / (seen + 1);
    ++seen;
  }
};

std::vector<Candidate> candidates_in(const cv::Mat& picture, const Box& face,
                                     const std::vector<std::filesystem::path>& directories) {
  std::vector<Candidate> candidates;
  const cv::Rect upper =
      cv::Rect(face.x1, face.y1, face.width(), static_cast<int>(k_upper_part * face.height())) &
      cv::Rect({}, picture.size());
  if (upper.empty()) return candidates;
  const double scale = k_face_width / face.width();
  cv::Mat grey;
  cv::cvtColor(picture(upper), grey, cv::COLOR_BGR2GRAY);
  cv::resize(grey, grey, {}, scale, scale, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  cv::equalizeHist(grey, grey);
  bool any_cascade = false;
  for (const char* name : k_eye_cascades) {
    const auto directory = std::ranges::find_if(directories, [&](const auto& one) {
      std::error_code ignored;
      return std::filesystem::is_regular_file(one / name, ignored);
    });
    if (directory == directories.end()) continue;
    any_cascade = true;
    std::vector<cv::Rect> found;
    cv::CascadeClassifier((*directory / name).string())
        .detectMultiScale(grey, found, 1.05, 3, 0, {30, 30}, {110, 110});
    for (const cv::Rect& eye : found) {
      const double x = upper.x + (eye.x + eye.width / 2.0) / scale;
      const double y = upper.y + (eye.y + eye.height / 2.0) / scale;
      const double near = 0.08 * face.width();
      const auto known = std::ranges::find_if(candidates, [&](const Candidate& one) {
        return std::abs(one.x - x) < near && std::abs(one.y - y) < near;
      });
      if (known == candidates.end())
        candidates.push_back({.x = x, .y = y, .seen = 1});
      else
        known->add(x, y);
    }
  }
  if (!any_cascade)
    throw Error(Code::not_found,
                "the eye finder's cascade files are not installed: install Debian's package "
                "opencv-data");
  return candidates;
}

// Two that lie level, at the distance of a face's eyes and about its middle.
bool could_be_eyes(const Candidate& left, const Candidate& right, const Box& face) {
  const double distance = (right.x - left.x) / face.width();
  const double aside = ((left.x + right.x) - (face.x1 + face.x2)) / 2 / face.width();
  return distance > 0.33 && distance < 0.65 && std::abs(aside) < 0.2 &&
         std::abs(right.y - left.y) < 0.15 * (right.x - left.x);
}

// Two eyes of windows in pixels of the picture, with their lashes.
Eyes in_picture(const std::array<Eye, 2>& fitted, const std::array<Candidate, 2>& middles,
                const cv::Mat& bgr) {
  Eyes eyes{.both = fitted};
  const double scale = (middles[1].x - middles[0].x) / k_eye_distance;
  for (std::size_t i = 0; i < 2; ++i) {
    Eye& eye = eyes.both[i];
    eye.x = middles[i].x + (eye.x - k_eye_middle) * scale;
    eye.y = middles[i].y + (eye.y - k_eye_middle) * scale;
    for (double* length : {&eye.half_width, &eye.above, &eye.below}) *length *= scale;
  }
  eyes.distance = eyes.both[1].x - eyes.both[0].x;
  const cv::Mat lab = lab_of(bgr, std::max(0.8, 0.02 * eyes.distance));
  for (Eye& eye : eyes.both) {
    const cv::Vec3f skin = median_colour(lab, skin_patch(eye.x, eye.y, eyes.distance, lab.size()));
    eye.lashes_above = reach_of_lashes(lab, skin, eye, eyes.distance, -1, 0.2);
    eye.lashes_below = reach_of_lashes(lab, skin, eye, eyes.distance, 1, 0.08);
  }
  return eyes;
}

constexpr double k_least_distance = 12;  // of the eyes, in pixels
// Landmarks that lie on eyes had 0.24 and more, those of a face whose glasses they took for eyes 0.20.
constexpr double k_least_landmark_fit = 0.22;
// Points within the large eyes of a drawn face are beside its lids, unless its brows were found: then what is larger is eyes with brows.
constexpr double k_much_larger = 1.4;
constexpr float k_not_skin = 14;
constexpr double k_brow = 0.05, k_least_lashes = 0.02;  // of the eyes' distance

// Its corners are the points `first` and `first` + 3, two points of the upper lid lie between them, two of the lower one follow.
Eye eye_of(const FacePoints& points, std::size_t first) {
  const FacePoint &left = points[first], &right = points[first + 3];
  Eye eye{.x = (left.x + right.x) / 2.0 + 0.5, .y = (left.y + right.y) / 2.0 + 0.5};
  eye.half_width = std::max(1.0, (right.x - left.x) / 2.0);
  eye.tilt = std::clamp((right.y - left.y) / (2 * eye.half_width), -0.5, 0.5);
  const auto off = [&](std::size_t number) {  // the line of the corners
    const FacePoint& point = points[first + number];
    return point.y + 0.5 - eye.y - eye.tilt * (point.x + 0.5 - eye.x);
  };
  const double arc = lid_arc(1.0 / 3);
  eye.above = std::max(0.0, -(off(1) + off(2)) / 2 / arc);
  eye.below = std::max(0.0, (off(4) + off(5)) / 2 / arc);
  return eye;
}

// Whether most of the brows' points lie on something that is not skin: those of large drawn eyes lie between eye and brow.
bool on_brows(const ConstImageView& picture, const FacePoints& points, const Eyes& eyes) {
  const cv::Mat lab = lab_of(bgr_of(picture), std::max(0.8, 0.02 * eyes.distance));
  int on = 0, count = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Eye& eye = eyes.both[i];
    const cv::Vec3f skin = median_colour(lab, skin_patch(eye.x, eye.y, eyes.distance, lab.size()));
    for (std::size_t k = 17 + 5 * i; k < 22 + 5 * i; ++k, ++count) {
      const int x = std::clamp(points[k].x, 0, lab.cols - 1);
      const int y = std::clamp(points[k].y, 0, lab.rows - 1);
      on += skin_distance(lab.at<cv::Vec3f>(y, x), skin) >= k_not_skin;
    }
  }
  return 2 * on > count;
}

// How high the lowest of a brow's three middle points is.
double brow_line(const FacePoints& points, std::size_t eye) {
  const std::size_t first = eye == 0 ? 18 : 23;
  return std::max({points[first].y, points[first + 1].y, points[first + 2].y});
}

}  // namespace

double lid_arc(double across) { return std::pow(std::max(0.0, 1 - across * across), 0.75); }

namespace {

std::optional<Eyes> eyes_of_cascades(const ConstImageView& picture, const Box& face,
                                     const std::vector<std::filesystem::path>& directories) {
  const cv::Mat bgr = bgr_of(picture);
  const std::vector<Candidate> candidates = candidates_in(bgr, face, directories);
  FittedEyes best{.score = -std::numeric_limits<double>::infinity()};
  std::array<Candidate, 2> pair;
  for (const Candidate& left : candidates)
    for (const Candidate& right : candidates) {
      if (!could_be_eyes(left, right, face)) continue;
      const double apart = right.x - left.x;
      const FittedEyes placed = fit_eyes({EyeSurroundings(bgr, left.x, left.y, apart),
                                          EyeSurroundings(bgr, right.x, right.y, apart)});
      if (placed.score <= best.score) continue;
      best = placed;
      pair = {left, right};
    }
  if (best.worse_fit < k_least_fit) return std::nullopt;
  return in_picture(best.both, pair, bgr);
}

std::optional<Eyes> eyes_of_landmarks(const ConstImageView& picture, const FacePoints& points) {
  if (points.size() != k_face_point_count) return std::nullopt;
  const cv::Mat bgr = bgr_of(picture);
  const std::array<Eye, 2> seen{eye_of(points, 36), eye_of(points, 42)};
  const double distance = seen[1].x - seen[0].x;
  if (distance < k_least_distance) return std::nullopt;
  const double scale = k_eye_distance / distance;
  std::array<Eye, 2> in_windows = seen;
  for (Eye& eye : in_windows) {
    eye.x = eye.y = k_eye_middle;
    for (double* length : {&eye.half_width, &eye.above, &eye.below}) *length *= scale;
  }
  const FittedEyes fitted = fit_eyes_near({EyeSurroundings(bgr, seen[0].x, seen[0].y, distance),
                                           EyeSurroundings(bgr, seen[1].x, seen[1].y, distance)},
                                          in_windows);
  if (fitted.worse_fit < k_least_landmark_fit) return std::nullopt;
  Eyes eyes = in_picture(
      fitted.both, {Candidate{seen[0].x, seen[0].y, 1}, Candidate{seen[1].x, seen[1].y, 1}}, bgr);
  // Never beyond the brows' lower edge.
  for (std::size_t i = 0; i < 2; ++i) {
    Eye& eye = eyes.both[i];
    const double free = eye.y - brow_line(points, i) - k_brow * eyes.distance;
    const double least = k_least_lashes * eyes.distance;
    eye.above = std::min(eye.above, std::max(free - least, seen[i].above));
    eye.lashes_above = std::clamp(eye.lashes_above, least, std::max(least, free - eye.above));
  }
  return eyes;
}

}  // namespace

std::optional<Eyes> find_eyes(const ConstImageView& picture, const Box& face,
                              const std::vector<std::filesystem::path>& directories,
                              const FacePoints& landmarks) {
  const std::optional<Eyes> seen = eyes_of_cascades(picture, face, directories);
  const std::optional<Eyes> marked = eyes_of_landmarks(picture, landmarks);
  if (!marked) return seen;
  const bool inside_larger =
      seen && seen->both[0].half_width > k_much_larger * marked->both[0].half_width;
  return inside_larger && !on_brows(picture, landmarks, *marked) ? seen : marked;
}

}  // namespace navtalk
