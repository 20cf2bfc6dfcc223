#include "gpu/model/face_detector.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"
#include "gpu/model/face_placement.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/faces/expected_s3fd.h"
#include "gpu/nets/faces/s3fd.h"

namespace navtalk {
namespace {

constexpr int k_least_side = 32;
// The original takes the means of blue, green and red from red, green and blue.
constexpr std::array<float, 3> k_detection_mean{104, 117, 123};

NdArray<float> detection_input(ConstImageView picture) {
  NdArray<float> input(Shape{1, 3, picture.height, picture.width});
  float* out = input.values.data();
  for (int channel = 0; channel < 3; ++channel)
    for (int y = 0; y < picture.height; ++y) {
      const std::uint8_t* row = picture.row(y) + 2 - channel;
      for (int x = 0; x < picture.width; ++x)
        *out++ = static_cast<float>(row[3 * x]) - k_detection_mean.at(channel);
    }
  return input;
}

// [1,6,h,w] to rows of a cell's numbers.
at::Tensor rows_of(const at::Tensor& map, std::int64_t first, std::int64_t count) {
  return map[0].narrow(0, first, count).permute({1, 2, 0}).reshape({-1, count});
}

}  // namespace

struct FaceDetector::Impl {
  std::filesystem::path file;
  int threads = 1;
  std::unique_ptr<nets::S3fd> net;
};

FaceDetector::FaceDetector(const std::filesystem::path& file, const FaceNetOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->threads = face_threads(options);
  const nets::Placement place = face_placement(options);
  const S3fdConfig config = s3fd_config(Checkpoint::open(file));
  run(impl_->threads, "loading the face detector", [&] {
    const auto weights = nets::Weights::open(Net::s3fd, file, expected_s3fd(config));
    impl_->net = std::make_unique<nets::S3fd>(weights, place);
  });
}

FaceDetector::FaceDetector(FaceDetector&&) noexcept = default;
FaceDetector& FaceDetector::operator=(FaceDetector&&) noexcept = default;
FaceDetector::~FaceDetector() = default;

FaceScores FaceDetector::scores(ConstImageView picture) const {
  NAVTALK_CHECK(picture.channels == 3);
  NAVTALK_CHECK(std::min(picture.width, picture.height) >= k_least_side);
  const NdArray<float> input = detection_input(picture);
  FaceScores result;
  run(impl_->threads, "detecting faces", [&] {
    std::vector<at::Tensor> scores, offsets;
    for (const at::Tensor& map : (*impl_->net)(tensor(input))) {
      result.scales.push_back({map.size(2), map.size(3)});
      scores.push_back(rows_of(map, 0, 2));
      offsets.push_back(rows_of(map, 2, 4));
    }
    result.scores = array(at::cat(scores));
    result.offsets = array(at::cat(offsets));
  });
  for (const NdArray<float>* array : {&result.scores, &result.offsets})
    if (!std::ranges::all_of(array->values, [](float value) { return std::isfinite(value); }))
      throw Error(Code::invalid,
                  fmt::format("{}: the net's scores are not finite", impl_->file.string()));
  return result;
}

std::optional<Box> FaceDetector::face(ConstImageView picture) const {
  const std::vector<Box> all = faces(picture);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<Box> FaceDetector::faces(ConstImageView picture) const {
  if (std::min(picture.width, picture.height) < k_least_side) return {};
  return whole_boxes(found_faces(scores(picture)));
}

}  // namespace navtalk
