#include "gpu/model/face_landmarks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

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

NdArray<float> pose_input(ConstImageView picture) {
  const PoseView view = pose_view(picture.width, picture.height);
  const Image seen = warp_affine(picture, input_of_view(view), k_pose_width, k_pose_height);
  NdArray<float> input(Shape{1, 3, k_pose_height, k_pose_width});
  constexpr std::size_t k_pixels = std::size_t{k_pose_width} * k_pose_height;
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t i = 0; i < k_pixels; ++i)
      input.values[channel * k_pixels + i] =
          (static_cast<float>(seen.pixels[3 * i + 2 - channel]) - k_pose_mean.at(channel)) /
          k_pose_std.at(channel);
  return input;
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
  NAVTALK_CHECK(picture.channels == 3);
  const NdArray<float> input = pose_input(picture);
  PoseBins direct, mirrored;
  run(impl_->threads, "finding landmarks", [&] {
    const at::Tensor image = tensor(input);
    const nets::Dwpose::Bins both = (*impl_->net)(at::cat({image, image.flip(3)}));
    direct = {array(both.x[0]), array(both.y[0])};
    mirrored = {array(both.x[1]), array(both.y[1])};
  });
  PoseBins mean = with_mirrored(std::move(direct), mirrored);
  if (!all_numbers(mean.x) || !all_numbers(mean.y))
    throw Error(Code::invalid,
                fmt::format("{}: the net's scores are not finite", impl_->file.string()));
  return mean;
}

std::vector<PosePoint> FaceLandmarks::points(ConstImageView picture) const {
  return pose_points(bins(picture), pose_view(picture.width, picture.height));
}

}  // namespace navtalk
