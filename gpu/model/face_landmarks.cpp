#include "gpu/model/face_landmarks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "gpu/image/warp.h"
#include "gpu/model/face_placement.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/faces/dwpose.h"
#include "gpu/nets/faces/expected_dwpose.h"

namespace navtalk {
namespace {

// ImageNet's, of RGB between 0 and 255.
constexpr std::array<float, 3> k_pose_mean{123.675F, 116.28F, 103.53F},
    k_pose_std{58.395F, 57.12F, 57.375F};

// `input`: [3,384,288].
void put_pose_input(ConstImageView picture, float* input) {
  NAVTALK_CHECK(picture.channels == 3);
  const PoseView view = pose_view(picture.width, picture.height);
  const Image seen = warp_affine(picture, input_of_view(view), k_pose_width, k_pose_height);
  constexpr std::size_t k_pixels = std::size_t{k_pose_width} * k_pose_height;
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t i = 0; i < k_pixels; ++i)
      input[channel * k_pixels + i] =
          (static_cast<float>(seen.pixels[3 * i + 2 - channel]) - k_pose_mean.at(channel)) /
          k_pose_std.at(channel);
}

bool all_numbers(const NdArray<float>& array) {
  return std::ranges::all_of(array.values, [](float value) { return std::isfinite(value); });
}

}  // namespace

struct FaceLandmarks::Impl {
  std::filesystem::path file;
  int threads = 1;
  std::unique_ptr<nets::Dwpose> net;
};

FaceLandmarks::FaceLandmarks(const std::filesystem::path& file, const FaceNetOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->threads = face_threads(options);
  const nets::Placement place = face_placement(options);
  const DwposeConfig config = dwpose_config(Checkpoint::open(file));
  run(impl_->threads, "loading the landmarks", [&] {
    const auto weights = nets::Weights::open(Net::dwpose, file, expected_dwpose(config));
    impl_->net = std::make_unique<nets::Dwpose>(weights, config, place);
  });
}

FaceLandmarks::FaceLandmarks(FaceLandmarks&&) noexcept = default;
FaceLandmarks& FaceLandmarks::operator=(FaceLandmarks&&) noexcept = default;
FaceLandmarks::~FaceLandmarks() = default;

PoseBins FaceLandmarks::bins(ConstImageView picture) const {
  return std::move(bins(std::span(&picture, 1)).front());
}

std::vector<PoseBins> FaceLandmarks::bins(std::span<const ConstImageView> pictures) const {
  if (pictures.empty()) return {};
  const std::int64_t count = std::ssize(pictures);
  NdArray<float> input(Shape{count, 3, k_pose_height, k_pose_width});
  for (std::int64_t i = 0; i < count; ++i)
    put_pose_input(pictures[static_cast<std::size_t>(i)], input.row(i));
  std::vector<PoseBins> means = run(impl_->threads, "finding landmarks", [&] {
    const at::Tensor images = tensor(input);
    const nets::Dwpose::Bins both = (*impl_->net)(at::cat({images, images.flip(3)}));
    std::vector<PoseBins> each;
    for (std::int64_t i = 0; i < count; ++i)
      each.push_back(with_mirrored({array(both.x[i]), array(both.y[i])},
                                   {array(both.x[count + i]), array(both.y[count + i])}));
    return each;
  });
  for (const PoseBins& mean : means)
    if (!all_numbers(mean.x) || !all_numbers(mean.y))
      throw Error(Code::invalid,
                  fmt::format("{}: the net's scores are not finite", impl_->file.string()));
  return means;
}

std::vector<PosePoint> FaceLandmarks::points(ConstImageView picture) const {
  return pose_points(bins(picture), pose_view(picture.width, picture.height));
}

std::vector<std::vector<PosePoint>> FaceLandmarks::points(
    std::span<const ConstImageView> pictures) const {
  const std::vector<PoseBins> all = bins(pictures);
  std::vector<std::vector<PosePoint>> points;
  for (std::size_t i = 0; i < all.size(); ++i)
    points.push_back(pose_points(all[i], pose_view(pictures[i].width, pictures[i].height)));
  return points;
}

}  // namespace navtalk
