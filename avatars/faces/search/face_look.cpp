#include "avatars/faces/search/face_look.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace navtalk {
namespace {

constexpr std::size_t k_look_bins = 16;
constexpr int k_look_side = 32;      // pixels in which a face is looked at
constexpr double k_mean_grey = 120;  // after the exposure

struct Range {
  float least, most;
};
constexpr Range k_look_ranges[] = {{0, 100}, {-20, 60}, {-20, 60}};  // L, a, b of faces

// Each value counts for the two bins nearest to it, so that a small change of colour is a small change of the shares.
std::array<double, k_look_bins> shares_of(const cv::Mat& lab, int channel) {
  const Range& range = k_look_ranges[channel];
  std::array<double, k_look_bins> shares{};
  for (int y = 0; y < lab.rows; ++y)
    for (int x = 0; x < lab.cols; ++x) {
      const float value = lab.at<cv::Vec3f>(y, x)[channel];
      const double place =
          std::clamp((value - range.least) / double{range.most - range.least} * k_look_bins - 0.5,
                     0.0, k_look_bins - 1.0);
      const auto bin = static_cast<std::size_t>(place);
      const double beyond = place - static_cast<double>(bin);
      shares[bin] += 1 - beyond;
      if (bin + 1 < k_look_bins) shares[bin + 1] += beyond;
    }
  for (double& share : shares) share /= lab.rows * lab.cols;
  return shares;
}

}  // namespace

FaceLook look_of(const ConstImageView& picture, const Box& face) {
  FaceLook look{};
  const Box seen = intersection(face, {0, 0, picture.width, picture.height});
  if (seen.empty()) return look;
  // OpenCV only reads it; cv::Mat has no read-only form.
  const cv::Mat whole(picture.height, picture.width, CV_8UC3,
                      const_cast<std::uint8_t*>(picture.data),
                      static_cast<std::size_t>(picture.stride));
  cv::Mat small;
  cv::resize(whole({seen.x1, seen.y1, seen.width(), seen.height()}), small,
             {k_look_side, k_look_side}, 0, 0, cv::INTER_AREA);
  small.convertTo(small, CV_32FC3);
  const cv::Scalar mean = cv::mean(small);
  const double grey = std::max(1.0, (mean[0] + mean[1] + mean[2]) / 3);
  small = cv::min(small * (k_mean_grey / grey), 255.0) / 255;
  cv::cvtColor(small, small, cv::COLOR_BGR2Lab);
  for (int channel = 0; channel < 3; ++channel) {
    const auto shares = shares_of(small, channel);
    for (std::size_t i = 0; i < k_look_bins; ++i)
      look[static_cast<std::size_t>(channel) * k_look_bins + i] =
          static_cast<std::uint8_t>(std::lround(255 * std::sqrt(std::min(1.0, shares[i]))));
  }
  return look;
}

double look_distance(const FaceLook& a, const FaceLook& b) {
  const auto unknown = [](const FaceLook& look) {
    return std::ranges::all_of(look, [](int value) { return value == 0; });
  };
  if (unknown(a) || unknown(b)) return 0;
  double sum = 0;
  for (std::size_t first = 0; first < a.size(); first += k_look_bins) {
    int both = 0, own = 0, other = 0;
    for (std::size_t i = first; i < first + k_look_bins; ++i) {
      both += int{a[i]} * int{b[i]};
      own += int{a[i]} * int{a[i]};
      other += int{b[i]} * int{b[i]};
    }
    sum += std::max(0.0, 1 - both / std::sqrt(std::max(1.0, static_cast<double>(own) * other)));
  }
  return std::sqrt(sum / 3);
}

}  // namespace navtalk
