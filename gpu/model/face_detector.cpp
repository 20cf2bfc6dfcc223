#include "gpu/model/face_detector.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

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

// What a pass takes at most: its first layer has 64 channels of fp32 for each pixel.
constexpr std::int64_t k_most_pixels = std::int64_t{3840} * 2160;

// `out`: [3,H,W].
void put_detection_input(ConstImageView picture, float* out) {
  NAVTALK_CHECK(picture.channels == 3);
  NAVTALK_CHECK(std::min(picture.width, picture.height) >= k_least_side);
  for (int channel = 0; channel < 3; ++channel)
    for (int y = 0; y < picture.height; ++y) {
      const std::uint8_t* row = picture.row(y) + 2 - channel;
      for (int x = 0; x < picture.width; ++x)
        *out++ = static_cast<float>(row[3 * x]) - k_detection_mean.at(channel);
    }
}

// [6,h,w] to rows of a cell's numbers.
at::Tensor rows_of(const at::Tensor& map, std::int64_t first, std::int64_t count) {
  return map.narrow(0, first, count).permute({1, 2, 0}).reshape({-1, count});
}

}  // namespace

struct FaceDetector::Impl {
  // One pass through the net.
  std::vector<FaceScores> scores(std::span<const ConstImageView> pictures) const;

  std::filesystem::path file;
  int threads = 1;
  std::unique_ptr<nets::S3fd> net;
};

std::vector<FaceScores> FaceDetector::Impl::scores(std::span<const ConstImageView> pictures) const {
  const int width = pictures.front().width, height = pictures.front().height;
  NdArray<float> input(Shape{std::ssize(pictures), 3, height, width});
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    NAVTALK_CHECK(pictures[i].width == width && pictures[i].height == height);
    put_detection_input(pictures[i], input.row(static_cast<std::int64_t>(i)));
  }
  std::vector<FaceScores> results(pictures.size());
  run(threads, "detecting faces", [&] {
    const std::vector<at::Tensor> maps = (*net)(tensor(input));
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<at::Tensor> scores, offsets;
      for (const at::Tensor& map : maps) {
        results[i].scales.push_back({map.size(2), map.size(3)});
        scores.push_back(rows_of(map[static_cast<std::int64_t>(i)], 0, 2));
        offsets.push_back(rows_of(map[static_cast<std::int64_t>(i)], 2, 4));
      }
      results[i].scores = array(at::cat(scores));
      results[i].offsets = array(at::cat(offsets));
    }
  });
  for (const FaceScores& result : results)
    for (const NdArray<float>* array : {&result.scores, &result.offsets})
      if (!std::ranges::all_of(array->values, [](float value) { return std::isfinite(value); }))
        throw Error(Code::invalid,
                    fmt::format("{}: the net's scores are not finite", file.string()));
  return results;
}

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
  return std::move(impl_->scores(std::span(&picture, 1)).front());
}

std::vector<FaceScores> FaceDetector::scores(std::span<const ConstImageView> pictures) const {
  std::vector<FaceScores> all;
  while (!pictures.empty()) {
    const std::int64_t pixels = std::int64_t{pictures.front().width} * pictures.front().height;
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, k_most_pixels / pixels));
    const std::size_t count = std::min(most, pictures.size());
    std::ranges::move(impl_->scores(pictures.first(count)), std::back_inserter(all));
    pictures = pictures.subspan(count);
  }
  return all;
}

std::optional<Box> FaceDetector::face(ConstImageView picture) const {
  const std::vector<Box> all = faces(picture);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<Box> FaceDetector::faces(ConstImageView picture) const {
  if (std::min(picture.width, picture.height) < k_least_side) return {};
  return whole_boxes(found_faces(scores(picture)));
}

std::vector<std::vector<Box>> FaceDetector::faces(std::span<const ConstImageView> pictures) const {
  std::vector<std::vector<Box>> boxes(pictures.size());
  if (pictures.empty() || std::min(pictures.front().width, pictures.front().height) < k_least_side)
    return boxes;
  const std::vector<FaceScores> all = scores(pictures);
  for (std::size_t i = 0; i < all.size(); ++i) boxes[i] = whole_boxes(found_faces(all[i]));
  return boxes;
}

}  // namespace navtalk
