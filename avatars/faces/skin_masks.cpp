#include "avatars/faces/skin_masks.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "avatars/faces/skin.h"
#include "core/base/check.h"

namespace navtalk {
namespace {

// Faces are looked at in this width: finer detail would only make the edge restless.
constexpr int k_width = 96;
constexpr float k_face_colour = 14;  // largest distance of colours, in Lab
constexpr double k_skin_reach = 0.48;

// Shadows keep their hue, so darker counts least.
float face_distance(const cv::Vec3f& colour, const cv::Vec3f& reference) {
  const cv::Vec3f off = colour - reference;
  const float light = off[0] * (off[0] < 0 ? 0.35F : 0.6F);
  return std::sqrt(light * light + off[1] * off[1] + off[2] * off[2]);
}

// Of a face picture, 0 to 1.
struct Place {
  double across = 0, down = 0;
};

cv::Vec3f colour_around(const cv::Mat& lab, const std::vector<Place>& places) {
  cv::Mat together;
  for (const auto& [across, down] : places) {
    const cv::Rect patch(cvRound((across - 0.06) * lab.cols), cvRound((down - 0.05) * lab.rows),
                         std::max(1, cvRound(0.12 * lab.cols)),
                         std::max(1, cvRound(0.1 * lab.rows)));
    const cv::Rect inside = patch & cv::Rect({}, lab.size());
    if (!inside.empty()) together.push_back(lab(inside).clone().reshape(3, 1).t());
  }
  return median_colour(together, {0, 0, together.cols, together.rows});
}

cv::Mat round_brush(int size) { return cv::getStructuringElement(cv::MORPH_ELLIPSE, {size, size}); }

cv::Mat ellipse(const cv::Size& size, const cv::Point2d& middle, const cv::Size2d& semi_axes) {
  cv::Mat filled = cv::Mat::zeros(size, CV_8UC1);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double u = (x + 0.5 - middle.x) / semi_axes.width;
      const double v = (y + 0.5 - middle.y) / semi_axes.height;
      if (u * u + v * v <= 1) filled.at<std::uint8_t>(y, x) = 255;
    }
  return filled;
}

// What is connected with `seed`, without holes.
cv::Mat filled_part(const cv::Mat& parts, const cv::Point& seed) {
  cv::Mat labels;
  cv::connectedComponents(parts, labels, 4);
  const cv::Mat part = labels == labels.at<int>(seed);
  std::vector<std::vector<cv::Point>> outlines;
  cv::findContours(part, outlines, cv::RETR_EXTERNAL, cv::CHAIN_APPROX_NONE);
  cv::Mat filled = cv::Mat::zeros(parts.size(), CV_8UC1);
  cv::drawContours(filled, outlines, -1, 255, cv::FILLED);
  return filled;
}

// 255 where the face is.
cv::Mat face_part(const cv::Mat& face) {
  cv::Mat small;
  const int height = std::max(8, cvRound(k_width * static_cast<double>(face.rows) / face.cols));
  cv::resize(face, small, {k_width, height}, 0, 0,
             face.cols > k_width ? cv::INTER_AREA : cv::INTER_LINEAR);
  const cv::Mat lab = lab_of(small, 1.0);
  const cv::Vec3f cheeks = colour_around(lab, {{0.33, 0.6}, {0.67, 0.6}, {0.5, 0.5}});
  // Where there is a beard this is its colour.
  const cv::Vec3f jaw = colour_around(lab, {{0.32, 0.8}, {0.68, 0.8}, {0.5, 0.92}});
  const cv::Mat mouth =
      ellipse(small.size(), {0.5 * k_width, 0.72 * height}, {0.27 * k_width, 0.2 * height});
  const cv::Mat most = ellipse(small.size(), {0.5 * k_width, 0.5 * height},
                               {k_skin_reach * k_width, k_skin_reach * height});
  cv::Mat part = mouth.clone();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < k_width; ++x) {
      const auto& colour = lab.at<cv::Vec3f>(y, x);
      if (std::min(face_distance(colour, cheeks), face_distance(colour, jaw)) < k_face_colour)
        part.at<std::uint8_t>(y, x) = 255;
    }
  part &= most;
  cv::morphologyEx(part, part, cv::MORPH_OPEN, round_brush(5));
  part |= mouth;  // of a very low box it is as thin as a strand
  const cv::Point seed(k_width / 2, cvRound(0.72 * height));
  part = filled_part(part, seed);
  cv::morphologyEx(part, part, cv::MORPH_CLOSE, round_brush(9), {-1, -1}, 1, cv::BORDER_CONSTANT,
                   cv::Scalar(0));
  return filled_part(part & most, seed);
}

}  // namespace

FaceMask SkinMasks::mask(ConstImageView frame, const Box& box) {
  NAVTALK_CHECK(box.width() >= 8 && box.height() >= 8);
  cv::Mat part = face_part(bgr_of(frame.crop(box)));
  cv::resize(part, part, {box.width(), box.height()}, 0, 0, cv::INTER_LINEAR);
  const Box crop = crop_box_of(box);
  Image sharp(crop.width(), crop.height(), 1);
  const Box inner = box.moved(-crop.x1, -crop.y1);
  for (int y = 0; y < part.rows; ++y)
    std::copy_n(part.ptr<std::uint8_t>(y), part.cols, sharp.view().at(inner.x1, inner.y1 + y));
  return lower_part(box, std::move(sharp));
}

}  // namespace navtalk
