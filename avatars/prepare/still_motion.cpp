#include "avatars/prepare/still_motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "avatars/faces/blink.h"

namespace navtalk {
namespace {

constexpr double k_round_s = 12;
// When the eyes begin to close. People blink 15 to 20 times a minute, at irregular intervals.
constexpr double k_blinks_s[] = {1.7, 5.2, 7.6, 10.9};
constexpr double k_closing_s = 0.1, k_closed_s = 0.04, k_opening_s = 0.18;

// Largest turn and shift of the head, small enough that nothing beside it is seen to bend.
constexpr double k_turn = 1.0 * std::numbers::pi / 180;
constexpr double k_aside = 0.012, k_nod = 0.008;  // of the face's width, of its height

double wave(double share, int rounds) { return std::sin(2 * std::numbers::pi * share * rounds); }

double smooth_step(double value) {
  const double t = std::clamp(value, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double closed_at(double time_s) {
  for (const double begin : k_blinks_s) {
    const double since = time_s - begin;
    if (since <= 0 || since >= k_closing_s + k_closed_s + k_opening_s) continue;
    if (since < k_closing_s) return smooth_step(since / k_closing_s);
    return 1 - smooth_step((since - k_closing_s - k_closed_s) / k_opening_s);
  }
  return 0;
}

// Where the head is in one picture: turned about the root of the neck, and shifted.
class Pose {
 public:
  // `share`: of the round, 0 to 1.
  Pose(const Box& face, double share)
      : turn_(k_turn * (0.7 * wave(share, 2) + 0.3 * wave(share, 5))),
        cosine_(std::cos(turn_)),
        sine_(std::sin(turn_)),
        aside_(k_aside * face.width() * (0.7 * wave(share, 1) + 0.3 * wave(share, 4))),
        down_(k_nod * face.height() * (0.6 * wave(share, 3) + 0.4 * wave(share, 1))),
        middle_x_((face.x1 + face.x2) / 2.0),
        middle_y_((face.y1 + face.y2) / 2.0),
        root_y_(face.y2 + 0.45 * face.height()),
        width_(face.width()),
        height_(face.height()) {}

  // What the picture shows at (x, y) is there in the still.
  cv::Point2f source(int x, int y) const {
    const double away_x = x - middle_x_ - aside_, away_y = y - root_y_ - down_;
    const double from_x = cosine_ * away_x + sine_ * away_y + middle_x_;
    const double from_y = -sine_ * away_x + cosine_ * away_y + root_y_;
    const double share = head_share(x, y);
    return {static_cast<float>(x + share * (from_x - x)),
            static_cast<float>(y + share * (from_y - y))};
  }

  // Where a point of the head goes.
  FacePoint moved(const FacePoint& in_still) const {
    const double away_x = in_still.x - middle_x_, away_y = in_still.y - root_y_;
    return {static_cast<int>(std::lround(cosine_ * away_x - sine_ * away_y + middle_x_ + aside_)),
            static_cast<int>(std::lround(sine_ * away_x + cosine_ * away_y + root_y_ + down_))};
  }

  // Of the middle of the face.
  std::pair<int, int> shift() const {
    const double up = middle_y_ - root_y_;
    return {static_cast<int>(std::lround(aside_ - std::sin(turn_) * up)),
            static_cast<int>(std::lround(down_ + (std::cos(turn_) - 1) * up))};
  }

 private:
  // 1 for the head, which moves as one; less and less beside it.
  double head_share(int x, int y) const {
    const double far = std::hypot((x - middle_x_) / (0.85 * width_),
                                  (y - middle_y_ + 0.1 * height_) / (0.85 * height_));
    return 1 - smooth_step((far - 1) / 1.2);
  }

  double turn_, cosine_, sine_, aside_, down_;
  double middle_x_, middle_y_, root_y_, width_, height_;
};

}  // namespace

StillMotion::StillMotion(Image still, const Box& face, const FrameRate& fps, StillMotionKind kind,
                         const std::vector<std::filesystem::path>& directories,
                         const FacePoints& landmarks)
    : still_(std::move(still)),
      face_(face),
      fps_(fps),
      frames_(
          std::max(std::int64_t{1}, static_cast<std::int64_t>(std::lround(k_round_s * fps.hz())))),
      landmarks_(landmarks) {
  if (kind == StillMotionKind::blink_and_sway)
    eyes_ = find_eyes(still_.view(), face, directories, landmarks);
}

Image StillMotion::frame(std::int64_t index) const {
  const double share = static_cast<double>(index) / static_cast<double>(frames_);
  const double closed = eyes_ ? closed_at(fps_.seconds(index)) : 0;
  const Image eyes = closed > 0 ? close_eyes(still_, *eyes_, closed) : still_;
  if (index == 0) return eyes;
  const Pose pose(face_, share);
  cv::Mat from(still_.height, still_.width, CV_32FC2);
  for (int y = 0; y < from.rows; ++y)
    for (int x = 0; x < from.cols; ++x) {
      const cv::Point2f source = pose.source(x, y);
      from.at<cv::Vec2f>(y, x) = {source.x, source.y};
    }
  Image moved(still_.width, still_.height);
  cv::Mat target(moved.height, moved.width, CV_8UC3, moved.pixels.data());
  const cv::Mat source(eyes.height, eyes.width, CV_8UC3,
                       const_cast<std::uint8_t*>(eyes.pixels.data()));
  cv::remap(source, target, from, {}, cv::INTER_LANCZOS4, cv::BORDER_REFLECT_101);
  return moved;
}

FacePoints StillMotion::landmarks(std::int64_t index) const {
  const Pose pose(face_, static_cast<double>(index) / static_cast<double>(frames_));
  FacePoints points;
  for (const FacePoint& point : landmarks_) points.push_back(pose.moved(point));
  return points;
}

Box StillMotion::face(std::int64_t index) const {
  const auto [x, y] =
      Pose(face_, static_cast<double>(index) / static_cast<double>(frames_)).shift();
  return face_.moved(std::clamp(x, std::min(0, -face_.x1), std::max(0, still_.width - face_.x2)),
                     std::clamp(y, std::min(0, -face_.y1), std::max(0, still_.height - face_.y2)));
}

}  // namespace navtalk
