#include "avatars/faces/eye_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "avatars/faces/skin.h"

namespace navtalk {
namespace {

int row_at(double y) { return std::clamp(static_cast<int>(std::lround(y)), 0, k_eye_window); }

// Means over the columns of an eye.
class Mean {
 public:
  void add(const EyeSurroundings& picture, int x, int first, int end) {
    sum_ += picture.sum(x, first, end);
    count_ += end - first;
  }
  double value() const { return sum_ / std::max(1, count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

constexpr int k_columns = 25;
constexpr double k_ring = 7;  // just outside the lids there is skin

// Inside the lids it is unlike skin, outside it is like skin.
double fit_at(const EyeSurroundings& picture, const Eye& eye) {
  Mean inside, over, under;
  for (int i = 0; i < k_columns; ++i) {
    const double across = -0.9 + 1.8 * i / (k_columns - 1);
    const int x = std::clamp(static_cast<int>(std::lround(eye.x + across * eye.half_width)), 0,
                             k_eye_window - 1);
    const double line = eye.y + eye.tilt * across * eye.half_width;
    const double upper = line - eye.above * lid_arc(across);
    const double lower = line + eye.below * lid_arc(across);
    inside.add(picture, x, row_at(upper), row_at(lower));
    over.add(picture, x, row_at(upper - k_ring), row_at(upper));
    under.add(picture, x, row_at(lower), row_at(lower + k_ring));
  }
  return inside.value() - 0.35 * over.value() - 0.6 * under.value();
}

// How far from the window's middle an eye's place is looked for.
struct Search {
  int aside, step_aside, down;
};
constexpr Search k_anywhere{.aside = 9, .step_aside = 3, .down = 12};
constexpr Search k_near{.aside = 4, .step_aside = 2, .down = 4};

struct Placed {
  double fit = -std::numeric_limits<double>::infinity();
  Eye eye{};
};

// The best place for an eye of this shape.
Placed place(const EyeSurroundings& picture, const Eye& shape, const Search& search) {
  Placed best;
  for (int dx = -search.aside; dx <= search.aside; dx += search.step_aside)
    for (int dy = -search.down; dy <= search.down; dy += 2) {
      Eye eye = shape;
      eye.x = k_eye_middle + dx;
      eye.y = k_eye_middle + dy;
      const double fit = fit_at(picture, eye);
      if (fit > best.fit) best = {.fit = fit, .eye = eye};
    }
  return best;
}

}  // namespace

EyeSurroundings::EyeSurroundings(const cv::Mat& picture, double x, double y, double distance) {
  const double scale = k_eye_distance / distance;
  const cv::Matx23d move(scale, 0, k_eye_middle - x * scale, 0, scale, k_eye_middle - y * scale);
  cv::Mat window;
  cv::warpAffine(picture, window, move, {k_eye_window, k_eye_window}, cv::INTER_CUBIC,
                 cv::BORDER_REPLICATE);
  const cv::Mat lab = lab_of(window, 1.0);
  const cv::Vec3f skin =
      median_colour(lab, skin_patch(k_eye_middle, k_eye_middle, k_eye_distance, lab.size()));
  for (int row = 0; row < k_eye_window; ++row)
    for (int column = 0; column < k_eye_window; ++column)
      sums_[column][row + 1] =
          sums_[column][row] +
          std::min(1.0F, skin_distance(lab.at<cv::Vec3f>(row, column), skin) / 20);
}

// Both eyes have one shape. Larger ones are preferred a little: their insides are unlike skin over more columns.
FittedEyes fit_eyes(const std::array<EyeSurroundings, 2>& pictures) {
  FittedEyes best{.score = -std::numeric_limits<double>::infinity()};
  for (int width = 20; width <= 36; width += 4)
    for (int above = 6; above <= 14; above += 2)
      for (int below = 4; below <= 14; below += 2) {
        const Eye shape{.half_width = static_cast<double>(width),
                        .above = static_cast<double>(above),
                        .below = static_cast<double>(below)};
        const Placed left = place(pictures[0], shape, k_anywhere),
                     right = place(pictures[1], shape, k_anywhere);
        const double score = left.fit + right.fit + 0.006 * width + 0.004 * (above + below) -
                             0.015 * std::max(0, 10 - above);
        if (score > best.score)
          best = {.score = score,
                  .worse_fit = std::min(left.fit, right.fit),
                  .both = {left.eye, right.eye}};
      }
  return best;
}

FittedEyes fit_eyes_near(const std::array<EyeSurroundings, 2>& pictures,
                         const std::array<Eye, 2>& eyes) {
  FittedEyes best{.score = -std::numeric_limits<double>::infinity()};
  for (const double width : {0.9, 1.0, 1.1})
    for (const double above : {0.8, 1.0, 1.25})
      for (const double below : {0.7, 1.0, 1.4}) {
        FittedEyes both;
        double fits[2] = {};
        for (std::size_t i = 0; i < 2; ++i) {
          Eye shape = eyes[i];
          shape.half_width = std::clamp(width * shape.half_width, 14.0, 40.0);
          shape.above = std::clamp(above * shape.above, 3.0, 16.0);
          shape.below = std::clamp(below * shape.below, 2.0, 14.0);
          const Placed placed = place(pictures[i], shape, k_near);
          both.both[i] = placed.eye;
          fits[i] = placed.fit;
          both.score += placed.fit + 0.003 * shape.half_width + 0.002 * (shape.above + shape.below);
        }
        both.worse_fit = std::min(fits[0], fits[1]);
        if (both.score > best.score) best = both;
      }
  return best;
}

double reach_of_lashes(const cv::Mat& lab, const cv::Vec3f& skin, const Eye& eye, double distance,
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
    const double line = eye.y + eye.tilt * across * eye.half_width;
    const int edge = cvRound(line + side * lid * lid_arc(across));
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

}  // namespace navtalk
