#include "gpu/nets/faces/s3fd.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>

namespace navtalk::nets {
namespace {

constexpr double k_length_eps = 1e-10;
// Pictures have any size; layers are packed for this one.
constexpr std::array<std::int64_t, 2> k_usual_picture{720, 1280};

at::Tensor through(const std::vector<Conv>& layers, at::Tensor x) {
  for (const Conv& layer : layers) x = layer(x);
  return x;
}

// Of the channels of each pixel, fp32 [B,1,h,w].
at::Tensor lengths(const at::Tensor& x) {
  return at::sqrt(at::square(x.to(at::kFloat)).sum({1}, true)) + k_length_eps;
}

}  // namespace

class S3fd::Builder {
 public:
  Builder(const Weights& weights, const Placement& place) : weights_(weights), place_(place) {}
  const Placement& place() const { return place_; }

  // `cell`: how many pixels of the picture one of the input is wide.
  Conv conv(const std::string& name, std::int64_t padding, std::int64_t cell,
            std::int64_t stride = 1) const {
    Conv::Geometry shape = geometry(padding, cell, stride);
    shape.activation = Activation::relu;
    return {weights_(name + ".weight"), weights_(name + ".bias"), shape, place_};
  }
  Scale scale(const std::string& name, std::int64_t cell, bool normalised) const {
    const auto both = [&](const char* part) {
      return at::cat({weights_(name + "_mbox_conf" + part), weights_(name + "_mbox_loc" + part)});
    };
    const at::Tensor weight = both(".weight");
    return {.heads = Conv(weight, both(".bias"), geometry(1, cell, 1), place_),
            .norm = normalised ? std::optional(
                                     place_.place(weights_(name + ".weight").view({1, -1, 1, 1})))
                               : std::nullopt,
            .three_backgrounds = weight.size(0) == 8};
  }

 private:
  Conv::Geometry geometry(std::int64_t padding, std::int64_t cell, std::int64_t stride) const {
    return {.stride = stride,
            .padding = {padding, padding},
            .map_size = {k_usual_picture[0] / cell, k_usual_picture[1] / cell},
            .kernel = winograd_in_fp32(place_),
            .split_sums = false};
  }

  const Weights& weights_;
  const Placement& place_;
};

S3fd::S3fd(const Weights& weights, const Placement& place) : S3fd(Builder(weights, place)) {}

S3fd::S3fd(const Builder& build)
    : place_(build.place()),
      dense_{build.conv("fc6", 3, 32), build.conv("fc7", 0, 32)},
      sixth_{build.conv("conv6_1", 0, 32), build.conv("conv6_2", 1, 32, 2)},
      seventh_{build.conv("conv7_1", 0, 64), build.conv("conv7_2", 1, 64, 2)} {
  constexpr std::array<int, 5> k_depths{2, 2, 3, 3, 3};
  std::int64_t cell = 1;
  for (std::size_t block = 0; block < k_depths.size(); ++block) {
    std::vector<Conv>& layers = blocks_.emplace_back();
    for (int i = 1; i <= k_depths.at(block); ++i)
      layers.push_back(build.conv(fmt::format("conv{}_{}", block + 1, i), 1, cell));
    if (block >= 2)
      scales_.push_back(build.scale(fmt::format("conv{}_3_norm", block + 1), cell, true));
    cell *= 2;
  }
  scales_.push_back(build.scale("fc7", 32, false));
  scales_.push_back(build.scale("conv6_2", 64, false));
  scales_.push_back(build.scale("conv7_2", 128, false));
}

at::Tensor S3fd::Scale::operator()(const at::Tensor& x) const {
  const at::Tensor seen = norm ? x / lengths(x).to(x.scalar_type()) * *norm : x;
  const at::Tensor out = heads(seen).to(at::kFloat);
  if (!three_backgrounds) return out;
  return at::cat({out.narrow(1, 0, 3).amax({1}, true), out.narrow(1, 3, 5)}, 1);
}

std::vector<at::Tensor> S3fd::operator()(const at::Tensor& image) const {
  std::vector<at::Tensor> maps;
  const auto look = [&](const at::Tensor& x) { maps.push_back(scales_[maps.size()](x)); };
  at::Tensor x = image.to(place_.device, place_.type).contiguous(at::MemoryFormat::ChannelsLast);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    x = through(blocks_[block], x);
    if (block >= 2) look(x);
    x = at::max_pool2d(x, {2, 2}, {2, 2});
  }
  for (const std::vector<Conv>* layers : {&dense_, &sixth_, &seventh_})
    look(x = through(*layers, x));
  return maps;
}

}  // namespace navtalk::nets
