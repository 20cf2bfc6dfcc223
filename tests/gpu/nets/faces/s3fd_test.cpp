// The face detection net against its formulas in double, on random weights.
#include "gpu/nets/faces/s3fd.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "gpu/nets/faces/expected_s3fd.h"
#include "tests/gpu/nets/faces/placements.h"

using namespace navtalk;

namespace {

using DetectorWeights = std::map<std::string, at::Tensor>;

DetectorWeights random_detector(const S3fdConfig& config) {
  DetectorWeights tensors;
  for (const TensorInfo& info : expected_s3fd(config)) {
    at::Tensor& tensor = tensors[info.name];
    tensor = at::randn(info.shape);
    if (info.shape.size() == 4)
      tensor *= std::sqrt(2.0 / static_cast<double>(tensor.numel() / tensor.size(0)));
    else
      tensor = info.name.ends_with("weight") ? tensor + 8 : 0.1 * tensor;
  }
  return tensors;
}

class DetectorFormula {
 public:
  explicit DetectorFormula(const DetectorWeights& tensors) : tensors_(tensors) {}

  std::vector<at::Tensor> operator()(at::Tensor x) const {
    std::vector<at::Tensor> maps;
    for (int block = 1; block <= 5; ++block) {
      for (int i = 1; i <= (block < 3 ? 2 : 3); ++i)
        x = at::relu(conv(fmt::format("conv{}_{}", block, i), x, 1));
      if (block >= 3) {
        const std::string norm = fmt::format("conv{}_3_norm", block);
        const at::Tensor length = x.pow(2).sum(1, true).sqrt() + 1e-10;
        maps.push_back(heads(norm, x / length * get(norm + ".weight").view({1, -1, 1, 1})));
      }
      x = at::max_pool2d(x, 2);
    }
    x = at::relu(conv("fc7", at::relu(conv("fc6", x, 3)), 0));
    maps.push_back(heads("fc7", x));
    x = at::relu(conv("conv6_2", at::relu(conv("conv6_1", x, 0)), 1, 2));
    maps.push_back(heads("conv6_2", x));
    x = at::relu(conv("conv7_2", at::relu(conv("conv7_1", x, 0)), 1, 2));
    maps.push_back(heads("conv7_2", x));
    return maps;
  }

 private:
  at::Tensor get(const std::string& name) const { return tensors_.at(name).to(at::kDouble); }
  at::Tensor conv(const std::string& name, const at::Tensor& x, std::int64_t padding,
                  std::int64_t stride = 1) const {
    return at::conv2d(x, get(name + ".weight"), get(name + ".bias"), stride, padding);
  }
  at::Tensor heads(const std::string& name, const at::Tensor& x) const {
    at::Tensor scores = conv(name + "_mbox_conf", x, 1);
    if (scores.size(1) == 4) {
      const auto parts = scores.split(1, 1);
      scores = at::cat({at::max(at::max(parts[0], parts[1]), parts[2]), parts[3]}, 1);
    }
    return at::cat({scores, conv(name + "_mbox_loc", x, 1)}, 1);
  }

  const DetectorWeights& tensors_;
};

}  // namespace

TEST_CASE("face scores in fp32 are within 1e-4 of the standard deviation of their formulas") {
  at::manual_seed(2);
  const S3fdConfig config{
      .widths = {8, 12, 16, 24, 32}, .dense = {40, 36}, .sixth = {20, 24}, .seventh = {12, 16}};
  const DetectorWeights tensors = random_detector(config);
  const nets::Weights weights([&](const std::string& name) { return tensors.at(name); });
  const at::Tensor image = at::randn({2, 3, 101, 139});  // sides that no scale divides
  const auto expected = DetectorFormula(tensors)(image.to(at::kDouble));
  for (const tests::PlacementBounds& bounds : tests::placement_bounds()) {
    const auto maps = nets::S3fd(weights, bounds.place)(image);
    REQUIRE(maps.size() == 6);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      CAPTURE(bounds.place.type, bounds.place.packed, i);
      REQUIRE(maps[i].sizes() == expected[i].sizes());
      const at::Tensor difference = (maps[i].to(at::kDouble) - expected[i]).abs();
      const double off = difference.max().item<double>() / expected[i].std().item<double>();
      CHECK(off < bounds.most);
      CHECK(off >= bounds.least);
    }
  }
}

TEST_CASE("the scales of a picture of 360x641 have the sizes of the original's maps") {
  at::manual_seed(3);
  const S3fdConfig config{
      .widths = {2, 2, 2, 2, 2}, .dense = {2, 2}, .sixth = {2, 2}, .seventh = {2, 2}};
  const DetectorWeights tensors = random_detector(config);
  const nets::S3fd net(nets::Weights([&](const std::string& name) { return tensors.at(name); }));
  std::vector<std::vector<std::int64_t>> sizes;
  for (const at::Tensor& map : net(at::randn({1, 3, 360, 641})))
    sizes.push_back(map.sizes().slice(2).vec());
  CHECK(sizes == std::vector<std::vector<std::int64_t>>{
                     {90, 160}, {45, 80}, {22, 40}, {15, 24}, {8, 12}, {4, 6}});
}
