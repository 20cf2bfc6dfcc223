#include "gpu/verify/ssim.h"

#include <opencv2/imgproc.hpp>

#include "core/base/check.h"

namespace navtalk {
namespace {

constexpr int k_window = 11;
constexpr double k_sigma = 1.5;
constexpr double k_levels = 255;
constexpr double k_c1 = (0.01 * k_levels) * (0.01 * k_levels),
                 k_c2 = (0.03 * k_levels) * (0.03 * k_levels);

cv::Mat as_doubles(const ConstImageView& picture) {
  // Only read.
  const cv::Mat bytes(picture.height, picture.width, CV_8UC(picture.channels),
                      const_cast<std::uint8_t*>(picture.data),
                      static_cast<std::size_t>(picture.stride));
  cv::Mat doubles;
  bytes.convertTo(doubles, CV_64F);
  return doubles;
}

// The windows' weighted means, where they lie inside the picture.
cv::Mat means(const cv::Mat& values) {
  cv::Mat blurred;
  cv::GaussianBlur(values, blurred, {k_window, k_window}, k_sigma);
  constexpr int k_border = k_window / 2;
  return blurred(
      cv::Rect(k_border, k_border, values.cols - 2 * k_border, values.rows - 2 * k_border));
}

}  // namespace

double ssim(ConstImageView a, ConstImageView b) {
  NAVTALK_CHECK(a.width == b.width && a.height == b.height && a.channels == b.channels);
  NAVTALK_CHECK(a.width >= k_window && a.height >= k_window);
  const cv::Mat x = as_doubles(a), y = as_doubles(b);
  const cv::Mat mean_x = means(x), mean_y = means(y);
  const cv::Mat both = mean_x.mul(mean_y), square_x = mean_x.mul(mean_x),
                square_y = mean_y.mul(mean_y);
  const cv::Mat variances = means(x.mul(x)) - square_x + means(y.mul(y)) - square_y;
  const cv::Mat covariance = means(x.mul(y)) - both;
  const cv::Scalar c1 = cv::Scalar::all(k_c1), c2 = cv::Scalar::all(k_c2);
  const cv::Mat alike = (2 * both + c1).mul(cv::Mat(2 * covariance + c2));
  const cv::Mat most = cv::Mat(square_x + square_y + c1).mul(cv::Mat(variances + c2));
  cv::Mat index;
  cv::divide(alike, most, index);
  const cv::Scalar mean = cv::mean(index);
  double sum = 0;
  for (int c = 0; c < a.channels; ++c) sum += mean[c];
  return sum / a.channels;
}

}  // namespace navtalk
