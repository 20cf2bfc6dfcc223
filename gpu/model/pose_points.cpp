#include "gpu/model/pose_points.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.h"
#include "gpu/nets/net_config.h"

namespace navtalk {
namespace {

constexpr float k_margin = 1.25F;  // of the view, against the picture
constexpr float k_aspect = static_cast<float>(k_pose_width) / static_cast<float>(k_pose_height);

using Pair = std::pair<std::size_t, std::size_t>;

// The pairs of COCO's whole body.
std::vector<Pair> mirrored_pairs() {
  std::vector<Pair> pairs;
  for (std::size_t i = 1; i < 17; i += 2) pairs.emplace_back(i, i + 1);    // body
  for (std::size_t i = 0; i < 3; ++i) pairs.emplace_back(17 + i, 20 + i);  // feet
  for (std::size_t i = 0; i < 8; ++i) pairs.emplace_back(23 + i, 39 - i);  // jaw
  for (std::size_t i = 0; i < 5; ++i) pairs.emplace_back(40 + i, 49 - i);  // brows
  for (const Pair& nose : {Pair(54, 58), Pair(55, 57)}) pairs.push_back(nose);
  for (const Pair& eye :
       {Pair(59, 68), Pair(60, 67), Pair(61, 66), Pair(62, 65), Pair(63, 70), Pair(64, 69)})
    pairs.push_back(eye);
  for (const Pair& lip : {Pair(71, 77), Pair(72, 76), Pair(73, 75), Pair(78, 82), Pair(79, 81),
                          Pair(83, 87), Pair(84, 86), Pair(88, 90)})
    pairs.push_back(lip);
  for (std::size_t i = 0; i < 21; ++i) pairs.emplace_back(91 + i, 112 + i);  // hands
  return pairs;
}

std::array<std::size_t, k_pose_points> mirrored_points() {
  std::array<std::size_t, k_pose_points> other{};
  for (std::size_t i = 0; i < other.size(); ++i) other.at(i) = i;
  for (const auto& [left, right] : mirrored_pairs()) {
    other.at(left) = right;
    other.at(right) = left;
  }
  return other;
}

struct BestBin {
  float score;
  std::int64_t index;
};

BestBin best(const NdArray<float>& bins, std::int64_t point) {
  const float* row = bins.row(point);
  const float* most = std::max_element(row, row + bins.dim(1));
  return {*most, most - row};
}

// The products and sums of the reference, one after the other.
double in_picture(std::int64_t bin, int input_size, float view_size, float centre) {
  const double place = static_cast<double>(static_cast<float>(bin) / float{k_pose_bins});
  const double half = static_cast<double>(0.5F * view_size);
  return ((place / input_size) * static_cast<double>(view_size) + static_cast<double>(centre)) -
         half;
}

}  // namespace

PoseView pose_view(int picture_width, int picture_height) {
  const auto width = static_cast<float>(picture_width), height = static_cast<float>(picture_height);
  PoseView view{width / 2, height / 2, k_margin * width, k_margin * height};
  if (view.width > view.height * k_aspect)
    view.height = view.width / k_aspect;
  else
    view.width = view.height * k_aspect;
  return view;
}

Affine input_of_view(const PoseView& view) {
  const double scale = k_pose_width / static_cast<double>(view.width);
  return {scale, 0,     k_pose_width / 2.0 - scale * static_cast<double>(view.centre_x),
          0,     scale, k_pose_height / 2.0 - scale * static_cast<double>(view.centre_y)};
}

std::size_t mirror_point(std::size_t point) {
  static const auto other = mirrored_points();
  return other.at(point);
}

PoseBins with_mirrored(PoseBins bins, const PoseBins& mirrored) {
  NAVTALK_CHECK(bins.x.shape == mirrored.x.shape && bins.y.shape == mirrored.y.shape);
  for (std::int64_t point = 0; point < bins.x.dim(0); ++point) {
    const auto other = static_cast<std::int64_t>(mirror_point(static_cast<std::size_t>(point)));
    const std::int64_t columns = bins.x.dim(1), rows = bins.y.dim(1);
    float* x = bins.x.row(point);
    const float* other_x = mirrored.x.row(other);
    for (std::int64_t i = 0; i < columns; ++i) x[i] = (x[i] + other_x[columns - 1 - i]) * 0.5F;
    float* y = bins.y.row(point);
    const float* other_y = mirrored.y.row(other);
    for (std::int64_t i = 0; i < rows; ++i) y[i] = (y[i] + other_y[i]) * 0.5F;
  }
  return bins;
}

std::vector<PosePoint> pose_points(const PoseBins& bins, const PoseView& view) {
  std::vector<PosePoint> points;
  for (std::int64_t i = 0; i < bins.x.dim(0); ++i) {
    BestBin x = best(bins.x, i), y = best(bins.y, i);
    const float score = std::min(x.score, y.score);
    if (score <= 0) x.index = y.index = -1;
    points.push_back({in_picture(x.index, k_pose_width, view.width, view.centre_x),
                      in_picture(y.index, k_pose_height, view.height, view.centre_y), score});
  }
  return points;
}

}  // namespace navtalk
