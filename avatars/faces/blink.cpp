#include "avatars/faces/blink.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "avatars/faces/hair_over_eye.h"
#include "avatars/faces/skin.h"

namespace navtalk {
namespace {

// 0 below the middle of an edge of this softness, 1 above it.
float soft(double value, double softness) {
  return static_cast<float>(std::clamp(value / softness + 0.5, 0.0, 1.0));
}

// One eye's part of a picture.
class Lid {
 public:
  Lid(const cv::Mat& still, const cv::Mat& blurred, const cv::Mat& lab, const Eye& eye,
      double distance)
      : still_(still), eye_(eye), distance_(distance), reach_(1.18 * eye.half_width) {
    const double margin = 0.1 * distance, slope = std::abs(eye.tilt) * reach_;
    part_ = cv::Rect(cv::Point(cvFloor(eye.x - reach_ - margin),
                               cvFloor(eye.y - eye.above - eye.lashes_above - margin - slope)),
                     cv::Point(cvCeil(eye.x + reach_ + margin),
                               cvCeil(eye.y + eye.below + eye.lashes_below + margin + slope))) &
            cv::Rect({}, still.size());
    const cv::Rect patch = skin_patch(eye.x, eye.y, distance, still.size());
    const cv::Vec3f skin = median_colour(blurred, patch), skin_lab = median_colour(lab, patch);
    for (int x = part_.x; x < part_.x + part_.width; ++x) {
      upper_skin_.push_back(skin_at(blurred, lab, skin, skin_lab, x, upper(x) - 0.03 * distance));
      lower_skin_.push_back(skin_at(blurred, lab, skin, skin_lab, x, lower(x) + 0.03 * distance));
    }
    smooth(upper_skin_);
    smooth(lower_skin_);
    lashes_ = dark_colour();
    hair_ = hair_over_eye(lab, part_, skin_lab, eye, distance);
  }

  void paint(cv::Mat& picture, double closed) const {
    for (int y = part_.y; y < part_.y + part_.height; ++y)
      for (int x = part_.x; x < part_.x + part_.width; ++x) paint_pixel(picture, x, y, closed);
  }

 private:
  double across(int x) const { return std::clamp((x - eye_.x) / reach_, -1.0, 1.0); }
  // Of what the closed lid covers.
  double upper(int x) const {
    return line(x) - eye_.above * lid_arc(across(x)) - eye_.lashes_above;
  }
  double lower(int x) const {
    return line(x) + eye_.below * lid_arc(across(x)) + eye_.lashes_below;
  }
  // Between the corners.
  double line(int x) const { return eye_.y + eye_.tilt * (x - eye_.x); }

  // Where it is a brow, hair or make-up, it is the skin below the eye instead.
  cv::Vec3f skin_at(const cv::Mat& blurred, const cv::Mat& lab, const cv::Vec3f& skin,
                    const cv::Vec3f& skin_lab, int x, double y) const {
    const int row = std::clamp(cvRound(y), 0, blurred.rows - 1);
    const float other =
        std::clamp((skin_distance(lab.at<cv::Vec3f>(row, x), skin_lab) - 12) / 10, 0.0F, 1.0F);
    return blurred.at<cv::Vec3f>(row, x) * (1 - other) + skin * other;
  }

  void smooth(std::vector<cv::Vec3f>& row) const {
    if (row.empty()) return;
    const int width = std::max(3, static_cast<int>(0.12 * distance_)) | 1;
    cv::Mat view(1, static_cast<int>(row.size()), CV_32FC3, row.data());
    cv::blur(view.clone(), view, {width, 1});
  }

  // The darkest tenth of the eye.
  cv::Vec3f dark_colour() const {
    const cv::Rect opening =
        cv::Rect(cv::Point(cvFloor(eye_.x - eye_.half_width), cvFloor(eye_.y - eye_.above)),
                 cv::Point(cvCeil(eye_.x + eye_.half_width), cvCeil(eye_.y + eye_.below))) &
        part_;
    std::vector<cv::Vec3b> pixels;
    for (int y = opening.y; y < opening.y + opening.height; ++y)
      for (int x = opening.x; x < opening.x + opening.width; ++x)
        pixels.push_back(still_.at<cv::Vec3b>(y, x));
    if (pixels.empty()) return {};
    const auto light = [](const cv::Vec3b& one) { return one[0] + one[1] + one[2]; };
    const auto end = pixels.begin() + std::max<std::ptrdiff_t>(1, std::ssize(pixels) / 10);
    std::ranges::partial_sort(pixels, end, {}, light);
    cv::Vec3f sum;
    for (auto pixel = pixels.begin(); pixel != end; ++pixel) sum += cv::Vec3f(*pixel);
    return sum / static_cast<float>(end - pixels.begin());
  }

  void paint_pixel(cv::Mat& picture, int x, int y, double closed) const {
    const double position = (x - eye_.x) / reach_, inside = 1 - position * position;
    if (inside <= 0) return;
    const double top = upper(x), bottom = lower(x);
    const double edge = top + (bottom - eye_.lashes_below - top) * closed;
    const auto column = static_cast<std::size_t>(x - part_.x);
    const auto down = static_cast<float>(std::clamp((y - top) / (bottom - top), 0.0, 1.0));
    const cv::Vec3f skin = upper_skin_[column] * (1 - down) + lower_skin_[column] * down;
    // A closed eye has no opening left to see, so its lower edge is covered, too.
    const double end = closed > 0.98 ? bottom : edge;
    const float corners = std::min(1.0F, static_cast<float>((1 - std::abs(position)) / 0.06));
    const float free = 1 - hair_.at<float>(y - part_.y, x - part_.x);
    const float lid =
        free * soft(y - top, 0.024 * distance_) * soft(end - y, 0.02 * distance_) * corners;
    const double thickness = 0.022 * distance_ * std::sqrt(inside);
    const float line = 0.85F * free * soft(thickness - std::abs(y - edge), 0.012 * distance_) *
                       std::min(1.0F, static_cast<float>((1 - std::abs(position)) / 0.1)) *
                       std::min(1.0F, static_cast<float>(3 * closed));
    auto& pixel = picture.at<cv::Vec3b>(y, x);
    cv::Vec3f colour = cv::Vec3f(pixel) * (1 - lid) + skin * lid;
    colour = colour * (1 - line) + lashes_ * line;
    for (int i = 0; i < 3; ++i) pixel[i] = cv::saturate_cast<std::uint8_t>(colour[i]);
  }

  const cv::Mat& still_;
  Eye eye_;
  double distance_, reach_;
  cv::Rect part_{};
  std::vector<cv::Vec3f> upper_skin_{}, lower_skin_{};  // a colour for each column
  cv::Vec3f lashes_{};
  cv::Mat hair_{};
};

}  // namespace

Image close_eyes(const Image& still, const Eyes& eyes, double closed) {
  Image result = still;
  if (closed <= 0) return result;
  const cv::Mat bgr = bgr_of(still.view());
  const double sigma = std::max(0.8, 0.02 * eyes.distance);
  cv::Mat blurred;
  bgr.convertTo(blurred, CV_32FC3);
  cv::GaussianBlur(blurred, blurred, {}, sigma);
  const cv::Mat lab = lab_of(bgr, sigma);
  cv::Mat painted = bgr_of(result.view());
  for (const Eye& eye : eyes.both)
    Lid(bgr, blurred, lab, eye, eyes.distance).paint(painted, std::min(1.0, closed));
  return result;
}

}  // namespace navtalk
