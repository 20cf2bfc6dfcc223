#include "avatars/faces/hair_over_eye.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <vector>

#include "avatars/faces/skin.h"

namespace navtalk {
namespace {

constexpr float k_not_skin = 14;
constexpr float k_same_hair = 22;     // largest distance in Lab from row to row
constexpr double k_widest = 0.5;      // strand, in widths of the eye: what is wider is glasses
constexpr double k_beyond = 0.03;     // the lids, in parts of the eyes' distance
constexpr double k_least_seen = 0.5;  // of a strand's width, in each row
constexpr double k_steepest = 1.5;    // pixels aside in a row
constexpr double k_edge = 0.02;       // of a strand, in parts of the eyes' distance
constexpr float k_new_colour = 0.1F;  // what a row adds to the strand's colour: it has highlights

// Pixels of one row.
struct Run {
  int first = 0, end = 0;
  double middle() const { return (first + end - 1) / 2.0; }
  int width() const { return end - first; }
};

float full_distance(const cv::Vec3f& a, const cv::Vec3f& b) {
  return static_cast<float>(cv::norm(a - b));
}

cv::Vec3f mean_colour(const cv::Mat& lab, int y, const Run& run) {
  cv::Vec3f sum;
  for (int x = run.first; x < run.end; ++x) sum += lab.at<cv::Vec3f>(y, x);
  return sum / static_cast<float>(run.width());
}

// What is not skin in the row below the eye.
std::vector<Run> feet(const cv::Mat& lab, int y, const Run& row, const cv::Vec3f& skin) {
  std::vector<Run> runs;
  for (int x = row.first; x < row.end; ++x) {
    if (skin_distance(lab.at<cv::Vec3f>(y, x), skin) < k_not_skin) continue;
    if (runs.empty() || runs.back().end < x) runs.push_back({x, x});
    runs.back().end = x + 1;
  }
  return runs;
}

// One strand, row by row upwards. Where it passes something of its colour, as an iris is, it keeps its width and direction.
class Strand {
 public:
  Strand(const cv::Mat& lab, const cv::Vec3f& skin, int y, const Run& foot)
      : lab_(lab),
        skin_(skin),
        width_(foot.width()),
        middle_(foot.middle()),
        colour_(mean_colour(lab, y, foot)) {}

  // nullopt where it ends.
  std::optional<Run> rise_to(int y) {
    const double expected = middle_ + slope_;
    const int reach = width_ / 2 + 2;
    const Run row{std::max(0, cvRound(expected) - reach),
                  std::min(lab_.cols, cvRound(expected) + reach + 1)};
    std::optional<Run> seen;
    int count = 0;
    for (int x = row.first; x < row.end; ++x) {
      if (!is_hair(lab_.at<cv::Vec3f>(y, x))) continue;
      if (!seen) seen = Run{x, x};
      seen->end = x + 1;
      ++count;
    }
    if (count < k_least_seen * width_) return std::nullopt;
    if (seen->width() <= width_ + 1) {
      slope_ = std::clamp(0.8 * slope_ + 0.2 * (seen->middle() - middle_), -k_steepest, k_steepest);
      middle_ = seen->middle();
      colour_ = colour_ * (1 - k_new_colour) + mean_colour(lab_, y, *seen) * k_new_colour;
      return seen;
    }
    middle_ = expected;
    const int first = std::max(0, cvRound(expected - (width_ - 1) / 2.0));
    return Run{first, std::min(lab_.cols, first + width_)};
  }

 private:
  bool is_hair(const cv::Vec3f& colour) const {
    const float away = full_distance(colour, colour_);
    return away < k_same_hair && away < full_distance(colour, skin_);
  }

  const cv::Mat& lab_;
  cv::Vec3f skin_;
  int width_;
  double middle_, slope_ = 0;
  cv::Vec3f colour_;
};

}  // namespace

cv::Mat hair_over_eye(const cv::Mat& lab, const cv::Rect& part, const cv::Vec3f& skin,
                      const Eye& eye, double distance) {
  cv::Mat hair = cv::Mat::zeros(part.size(), CV_32FC1);
  const double beyond = k_beyond * distance;
  const int top =
      std::clamp(cvFloor(eye.y - eye.above - eye.lashes_above - beyond), part.y, part.br().y - 1);
  const int bottom =
      std::clamp(cvCeil(eye.y + eye.below + eye.lashes_below + beyond), part.y, part.br().y - 1);
  for (const Run& foot : feet(lab, bottom, {part.x, part.br().x}, skin)) {
    if (foot.width() > k_widest * 2 * eye.half_width) continue;
    Strand strand(lab, skin, bottom, foot);
    std::vector<Run> rows{foot};
    for (int y = bottom - 1; y >= top; --y) {
      const std::optional<Run> run = strand.rise_to(y);
      if (!run) break;
      rows.push_back(*run);
    }
    if (std::ssize(rows) <= bottom - top) continue;  // it ends before the upper lid
    for (int i = 0; i <= bottom - top; ++i)
      cv::line(hair, {rows[static_cast<std::size_t>(i)].first - part.x, bottom - i - part.y},
               {rows[static_cast<std::size_t>(i)].end - 1 - part.x, bottom - i - part.y},
               cv::Scalar(1));
  }
  const int brush = 2 * std::max(1, cvRound(k_edge * distance)) + 1;
  cv::dilate(hair, hair, cv::getStructuringElement(cv::MORPH_ELLIPSE, {brush, brush}));
  cv::GaussianBlur(hair, hair, {}, std::max(0.5, 0.006 * distance));
  return hair;
}

}  // namespace navtalk
