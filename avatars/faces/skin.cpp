#include "avatars/faces/skin.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace navtalk {

cv::Mat bgr_of(const ConstImageView& picture) {
  return {picture.height, picture.width, CV_8UC3, const_cast<std::uint8_t*>(picture.data),
          static_cast<std::size_t>(picture.stride)};
}

cv::Mat lab_of(const cv::Mat& bgr, double sigma) {
  cv::Mat lab;
  bgr.convertTo(lab, CV_32FC3, 1 / 255.0);
  cv::cvtColor(lab, lab, cv::COLOR_BGR2Lab);
  cv::GaussianBlur(lab, lab, {}, sigma);
  return lab;
}

cv::Rect skin_patch(double x, double y, double distance, const cv::Size& size) {
  const cv::Rect patch(cvRound(x - 0.2 * distance), cvRound(y + 0.26 * distance),
                       std::max(1, cvRound(0.4 * distance)), std::max(1, cvRound(0.16 * distance)));
  const cv::Rect inside = patch & cv::Rect({}, size);
  if (!inside.empty()) return inside;
  return {std::clamp(patch.x, 0, size.width - 1), std::clamp(patch.y, 0, size.height - 1), 1, 1};
}

cv::Vec3f median_colour(const cv::Mat& colours, const cv::Rect& part) {
  cv::Vec3f median;
  for (int channel = 0; channel < 3; ++channel) {
    std::vector<float> values;
    for (int y = part.y; y < part.y + part.height; ++y)
      for (int x = part.x; x < part.x + part.width; ++x)
        values.push_back(colours.at<cv::Vec3f>(y, x)[channel]);
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    median[channel] = *middle;
  }
  return median;
}

float skin_distance(const cv::Vec3f& colour, const cv::Vec3f& skin) {
  const cv::Vec3f off = colour - skin;
  return std::hypot(off[0] / 2, off[1], off[2]);
}

}  // namespace navtalk
