#include "avatars/faces/eyes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

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

// How unlike the skin below it the surroundings of an eye are, 0 to 1, as sums down each column. The picture is resampled so
// that the eyes are k_distance pixels apart, the eye in the middle.
constexpr double k_distance = 100;
constexpr int k_window = 140, k_middle = k_window / 2;

class Surroundings {
 public:
  Surroundings(const cv::Mat& picture, const Candidate& eye, double distance) {
    const double scale = k_distance / distance;
    const cv::Matx23d move(scale, 0, k_middle - eye.x * scale, 0, scale, k_middle - eye.y * scale);
    cv::Mat window;
    cv::warpAffine(picture, window, move, {k_window, k_window}, cv::INTER_CUBIC,
                   cv::BORDER_REPLICATE);
    const cv::Mat lab = lab_of(window, 1.0);
    const cv::Vec3f skin =
        median_colour(lab, skin_patch(k_middle, k_middle, k_distance, lab.size()));
    for (int y = 0; y < k_window; ++y)
      for (int x = 0; x < k_window; ++x)
        sums_[x][y + 1] =
            sums_[x][y] + std::min(1.0F, skin_distance(lab.at<cv::Vec3f>(y, x), skin) / 20);
  }

  double sum(int x, int first, int end) const { return double{sums_[x][end]} - sums_[x][first]; }

 private:
  float sums_[k_window][k_window + 1] = {};
};

int row_at(double y) { return std::clamp(static_cast<int>(std::lround(y)), 0, k_window); }

// Means over the columns of an eye.
class Mean {
 public:
  void add(const Surroundings& picture, int x, int first, int end) {
    sum_ += picture.sum(x, first, end);
    count_ += end - first;
  }
  double value() const { return sum_ / std::max(1, count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// Of eyes that were looked at (photographed, drawn and rendered) the worse has 0.39 to 0.45; a brow that was taken for one, 0.28.
constexpr double k_least_fit = 0.33;
constexpr int k_columns = 25;
constexpr double k_ring = 7;  // just outside the lids there is skin

// Inside the lids it is unlike skin, outside it is like skin.
double fit_at(const Surroundings& picture, const Eye& eye) {
  Mean inside, over, under;
  for (int i = 0; i < k_columns; ++i) {
    const double across = -0.9 + 1.8 * i / (k_columns - 1);
    const int x =
        std::clamp(static_cast<int>(std::lround(eye.x + across * eye.half_width)), 0, k_window - 1);
    const double upper = eye.y - eye.above * lid_arc(across);
    const double lower = eye.y + eye.below * lid_arc(across);
    inside.add(picture, x, row_at(upper), row_at(lower));
    over.add(picture, x, row_at(upper - k_ring), row_at(upper));
    under.add(picture, x, row_at(lower), row_at(lower + k_ring));
  }
  return inside.value() - 0.35 * over.value() - 0.6 * under.value();
}

struct Placed {
  double fit = -std::numeric_limits<double>::infinity();
  Eye eye{};
};

// The best place for an eye of this shape.
Placed place(const Surroundings& picture, const Eye& shape) {
  Placed best;
  for (int dx = -9; dx <= 9; dx += 3)
    for (int dy = -12; dy <= 12; dy += 2) {
      Eye eye = shape;
      eye.x = k_middle + dx;
      eye.y = k_middle + dy;
      const double fit = fit_at(picture, eye);
      if (fit > best.fit) best = {.fit = fit, .eye = eye};
    }
  return best;
}

struct PlacedEyes {
  double score = -std::numeric_limits<double>::infinity();
  double worse_fit = 0;  // of the two
  std::array<Eye, 2> both{};
};

// Both eyes have one shape. Larger ones are preferred a little: their insides are unlike skin over more columns.
PlacedEyes fit_both(const std::array<Surroundings, 2>& pictures) {
  PlacedEyes best;
  for (int width = 20; width <= 36; width += 4)
    for (int above = 6; above <= 14; above += 2)
      for (int below = 4; below <= 14; below += 2) {
        const Eye shape{.half_width = static_cast<double>(width),
                        .above = static_cast<double>(above),
                        .below = static_cast<double>(below)};
        const Placed left = place(pictures[0], shape), right = place(pictures[1], shape);
        const double score = left.fit + right.fit + 0.006 * width + 0.004 * (above + below) -
                             0.015 * std::max(0, 10 - above);
        if (score > best.score)
          best = {.score = score,
                  .worse_fit = std::min(left.fit, right.fit),
                  .both = {left.eye, right.eye}};
      }
  return best;
}

// How far lashes and shadows reach from a lid: to the first rows of skin, in the middle of most columns. `side`: -1 above, 1 below.
double lashes_of(const cv::Mat& lab, const cv::Vec3f& skin, const Eye& eye, double distance,
                 int side, double most) {
  const double lid = side < 0 ? eye.above : eye.below;
  const int rows = std::max(2, static_cast<int>(0.03 * distance));
  const auto is_skin = [&](int x, int y) {
    for (int i = 0; i < rows; ++i) {
      const int row = y + side * i;
      if (row < 0 || row >= lab.rows) return false;
      if (skin_distance(lab.at<cv::Vec3f>(row, x), skin) >= 10) return false;
    }
    return true;
  };
  std::vector<int> reach;
  constexpr int k_probes = 9;
  for (int i = 0; i < k_probes; ++i) {
    const double across = -0.55 + 1.1 * i / (k_probes - 1);
    const int x = cvRound(eye.x + across * eye.half_width);
    if (x < 0 || x >= lab.cols) continue;
    const int edge = cvRound(eye.y + side * lid * lid_arc(across));
    for (int far = 0; far <= most * distance; ++far)
      if (is_skin(x, edge + side * far)) {
        reach.push_back(far);
        break;
      }
  }
  if (2 * reach.size() <= k_probes) return 0.03 * distance;  // a brow, say, follows at once
  const auto middle = reach.begin() + std::ssize(reach) / 2;
  std::nth_element(reach.begin(), middle, reach.end());
  return std::max<double>(*middle, 0.02 * distance);
}

}  // namespace

double lid_arc(double across) { return std::pow(std::max(0.0, 1 - across * across), 0.75); }

std::optional<Eyes> find_eyes(const ConstImageView& picture, const Box& face,
                              const std::vector<std::filesystem::path>& directories) {
  const cv::Mat bgr = bgr_of(picture);
  const std::vector<Candidate> candidates = candidates_in(bgr, face, directories);
  PlacedEyes best;
  std::array<Candidate, 2> pair;
  for (const Candidate& left : candidates)
    for (const Candidate& right : candidates) {
      if (!could_be_eyes(left, right, face)) continue;
      const double apart = right.x - left.x;
      const PlacedEyes placed =
          fit_both({Surroundings(bgr, left, apart), Surroundings(bgr, right, apart)});
      if (placed.score <= best.score) continue;
      best = placed;
      pair = {left, right};
    }
  if (best.worse_fit < k_least_fit) return std::nullopt;
  double distance = pair[1].x - pair[0].x;
  const double scale = distance / k_distance;
  Eyes eyes{.both = best.both};
  for (std::size_t i = 0; i < 2; ++i) {
    Eye& eye = eyes.both[i];
    eye.x = pair[i].x + (eye.x - k_middle) * scale;
    eye.y = pair[i].y + (eye.y - k_middle) * scale;
    for (double* length : {&eye.half_width, &eye.above, &eye.below}) *length *= scale;
  }
  distance = eyes.both[1].x - eyes.both[0].x;
  eyes.distance = distance;
  const cv::Mat lab = lab_of(bgr, std::max(0.8, 0.02 * distance));
  for (Eye& eye : eyes.both) {
    const cv::Vec3f skin = median_colour(lab, skin_patch(eye.x, eye.y, distance, lab.size()));
    eye.lashes_above = lashes_of(lab, skin, eye, distance, -1, 0.2);
    eye.lashes_below = lashes_of(lab, skin, eye, distance, 1, 0.08);
  }
  return eyes;
}

}  // namespace navtalk
