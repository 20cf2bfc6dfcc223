#include "gpu/model/face_parser.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "gpu/image/pillow_resize.h"
#include "gpu/kernels/maps.h"
#include "gpu/model/face_placement.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/faces/bisenet.h"
#include "gpu/nets/faces/expected_bisenet.h"

namespace navtalk {
namespace {

// ImageNet's, of RGB between 0 and 1.
constexpr std::array<float, 3> k_imagenet_mean{0.485F, 0.456F, 0.406F},
    k_imagenet_std{0.229F, 0.224F, 0.225F};

// `input`: [3,512,512].
void put_parsing_input(ConstImageView picture, float* input) {
  NAVTALK_CHECK(picture.channels == 3);
  Image scaled(k_parsing_size, k_parsing_size);
  pillow_resize(picture, scaled.view(), PillowFilter::bilinear);
  constexpr std::size_t k_pixels = std::size_t{k_parsing_size} * k_parsing_size;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    std::array<float, 256> normalised{};
    for (std::size_t value = 0; value < normalised.size(); ++value)
      normalised.at(value) = (static_cast<float>(value) / 255.0F - k_imagenet_mean.at(channel)) /
                             k_imagenet_std.at(channel);
    const std::uint8_t* from = scaled.pixels.data() + 2 - channel;
    for (float* to = input + channel * k_pixels; to < input + (channel + 1) * k_pixels; from += 3)
      *to++ = normalised[*from];
  }
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
  return std::move(scores(std::span(&picture, 1)).front());
}

Image FaceParser::parts(ConstImageView picture) const { return best_parts(scores(picture)); }

std::vector<NdArray<float>> FaceParser::scores(std::span<const ConstImageView> pictures) const {
  if (pictures.empty()) return {};
  NdArray<float> input(Shape{std::ssize(pictures), 3, k_parsing_size, k_parsing_size});
  for (std::size_t i = 0; i < pictures.size(); ++i)
    put_parsing_input(pictures[i], input.row(static_cast<std::int64_t>(i)));
  return run(impl_->threads, "face parsing", [&] {
    std::vector<NdArray<float>> each;
    for (const at::Tensor& one : (*impl_->net)(tensor(input)).unbind()) {
      const NdArray<float> small = array(one);
      if (!std::ranges::all_of(small.values, [](float score) { return std::isfinite(score); }))
        throw Error(Code::invalid,
                    fmt::format("{}: the net's scores are not finite", impl_->file.string()));
      NdArray<float>& scores =
          each.emplace_back(Shape{small.dim(0), k_parsing_size, k_parsing_size});
      kernels::enlarge_planes(small.values.data(), scores.values.data(), small.dim(0), small.dim(1),
                              small.dim(2), k_parsing_size, k_parsing_size);
    }
    return each;
  });
}

std::vector<Image> FaceParser::parts(std::span<const ConstImageView> pictures) const {
  std::vector<Image> parts;
  for (const NdArray<float>& one : scores(pictures)) parts.push_back(best_parts(one));
  return parts;
}

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
