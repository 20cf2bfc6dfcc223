#include "gpu/model/face_parser.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"
#include "gpu/image/pillow_resize.h"
#include "gpu/model/face_placement.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/faces/bisenet.h"
#include "gpu/nets/faces/expected_bisenet.h"

namespace navtalk {
namespace {

// ImageNet's, of RGB between 0 and 1.
constexpr std::array<float, 3> k_imagenet_mean{0.485F, 0.456F, 0.406F},
    k_imagenet_std{0.229F, 0.224F, 0.225F};

NdArray<float> parsing_input(ConstImageView picture) {
  Image scaled(k_parsing_size, k_parsing_size);
  pillow_resize(picture, scaled.view(), PillowFilter::bilinear);
  NdArray<float> input(Shape{1, 3, k_parsing_size, k_parsing_size});
  constexpr std::size_t k_pixels = std::size_t{k_parsing_size} * k_parsing_size;
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t i = 0; i < k_pixels; ++i) {
      const float unit = static_cast<float>(scaled.pixels[3 * i + 2 - channel]) / 255.0F;
      input.values[channel * k_pixels + i] =
          (unit - k_imagenet_mean.at(channel)) / k_imagenet_std.at(channel);
    }
  return input;
}

}  // namespace

struct FaceParser::Impl {
  std::filesystem::path file;
  int threads = 1;
  std::unique_ptr<nets::Bisenet> net;
};

FaceParser::FaceParser(const std::filesystem::path& file, const FaceNetOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->threads = face_threads(options);
  const nets::Placement place = face_placement(options);
  const BisenetConfig config = bisenet_config(Checkpoint::open(file));
  run(impl_->threads, "loading the face parsing", [&] {
    const auto weights = nets::Weights::open(Net::bisenet, file, expected_bisenet(config));
    impl_->net = std::make_unique<nets::Bisenet>(weights, config, place);
  });
}

FaceParser::FaceParser(FaceParser&&) noexcept = default;
FaceParser& FaceParser::operator=(FaceParser&&) noexcept = default;
FaceParser::~FaceParser() = default;

NdArray<float> FaceParser::scores(ConstImageView picture) const {
  NAVTALK_CHECK(picture.channels == 3);
  const NdArray<float> input = parsing_input(picture);
  NdArray<float> scores = run(impl_->threads, "face parsing",
                              [&] { return array((*impl_->net)(tensor(input)).squeeze(0)); });
  if (!std::ranges::all_of(scores.values, [](float score) { return std::isfinite(score); }))
    throw Error(Code::invalid,
                fmt::format("{}: the net's scores are not finite", impl_->file.string()));
  return scores;
}

Image FaceParser::parts(ConstImageView picture) const { return best_parts(scores(picture)); }

Image best_parts(const NdArray<float>& scores) {
  Image parts(static_cast<int>(scores.dim(2)), static_cast<int>(scores.dim(1)), 1);
  std::vector<float> best(scores.row(0), scores.row(1));
  for (std::int64_t part = 1; part < scores.dim(0); ++part) {
    const float* score = scores.row(part);
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (score[i] <= best[i]) continue;
      best[i] = score[i];
      parts.pixels[i] = static_cast<std::uint8_t>(part);
    }
  }
  return parts;
}

}  // namespace navtalk
