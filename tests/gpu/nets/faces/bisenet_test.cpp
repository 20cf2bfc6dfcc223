// The face parsing net against the unfolded formulas of its modules in double, on random weights.
#include "gpu/nets/faces/bisenet.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <map>

#include "gpu/nets/faces/expected_bisenet.h"
#include "tests/gpu/nets/faces/placements.h"

using namespace navtalk;

namespace {

using Tensors = std::map<std::string, at::Tensor>;

Tensors random_tensors(const BisenetConfig& config) {
  Tensors tensors;
  for (const TensorInfo& info : expected_bisenet(config)) {
    at::Tensor& tensor = tensors[info.name];
    if (info.shape.size() == 4)
      tensor = at::randn(info.shape) *
               std::sqrt(2.0 / static_cast<double>(info.shape[1] * info.shape[2] * info.shape[3]));
    else if (info.name.ends_with("weight") || info.name.ends_with("running_var"))
      tensor = at::rand(info.shape) + 0.5;
    else
      tensor = 0.1 * at::randn(info.shape);
  }
  return tensors;
}

// The net as its modules are written, in double.
class Formula {
 public:
  explicit Formula(const Tensors& tensors) : tensors_(tensors) {}

  at::Tensor operator()(const at::Tensor& image) const {
    at::Tensor x = at::relu(norm("cp.resnet.bn1", conv("cp.resnet.conv1", image, 2)));
    x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
    std::vector<at::Tensor> maps;
    for (const char* layer : {"layer1", "layer2", "layer3", "layer4"}) {
      const std::string name = std::string("cp.resnet.") + layer;
      x = block(name + ".0", x, maps.empty() ? 1 : 2);
      x = block(name + ".1", x, 1);
      maps.push_back(x);
    }
    const at::Tensor around = unit("cp.conv_avg", mean(maps[3]));
    const at::Tensor at16 = unit("cp.conv_head32", doubled(refined("cp.arm32", maps[3]) + around));
    const at::Tensor at8 = unit("cp.conv_head16", doubled(refined("cp.arm16", maps[2]) + at16));
    const at::Tensor z = unit("ffm.convblk", at::cat({maps[1], at8}, 1));
    const at::Tensor gate =
        at::sigmoid(conv("ffm.conv2", at::relu(conv("ffm.conv1", mean(z), 1)), 1));
    return conv("conv_out.conv_out", unit("conv_out.conv", z * gate + z), 1);
  }

 private:
  at::Tensor get(const std::string& name) const { return tensors_.at(name).to(at::kDouble); }
  at::Tensor conv(const std::string& name, const at::Tensor& x, std::int64_t stride) const {
    const at::Tensor weight = get(name + ".weight");
    return at::conv2d(x, weight, {}, stride, weight.size(2) / 2);
  }
  at::Tensor norm(const std::string& name, const at::Tensor& x) const {
    return at::batch_norm(x, get(name + ".weight"), get(name + ".bias"),
                          get(name + ".running_mean"), get(name + ".running_var"), false, 0.1, 1e-5,
                          false);
  }
  at::Tensor unit(const std::string& name, const at::Tensor& x) const {
    return at::relu(norm(name + ".bn", conv(name + ".conv", x, 1)));
  }
  at::Tensor block(const std::string& name, const at::Tensor& x, std::int64_t stride) const {
    const at::Tensor h = at::relu(norm(name + ".bn1", conv(name + ".conv1", x, stride)));
    const at::Tensor y = norm(name + ".bn2", conv(name + ".conv2", h, 1));
    if (!tensors_.contains(name + ".downsample.0.weight")) return at::relu(x + y);
    return at::relu(norm(name + ".downsample.1", conv(name + ".downsample.0", x, stride)) + y);
  }
  at::Tensor refined(const std::string& name, const at::Tensor& x) const {
    const at::Tensor h = unit(name + ".conv", x);
    return h * at::sigmoid(norm(name + ".bn_atten", conv(name + ".conv_atten", mean(h), 1)));
  }
  static at::Tensor mean(const at::Tensor& x) { return x.mean({2, 3}, true); }
  static at::Tensor doubled(const at::Tensor& x) {
    return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  }

  const Tensors& tensors_;
};

}  // namespace

TEST_CASE("face parsing in fp32 is within 1e-4 of the standard deviation of its formulas") {
  at::manual_seed(1);
  const BisenetConfig config{
      .widths = {8, 12, 16, 24}, .context = 12, .fused = 20, .gate = 5, .head = 16};
  const Tensors tensors = random_tensors(config);
  const nets::Weights weights([&](const std::string& name) { return tensors.at(name); });
  const at::Tensor image = at::randn({2, 3, 512, 512});
  const at::Tensor expected = Formula(tensors)(image.to(at::kDouble));
  for (const tests::PlacementBounds& bounds : tests::placement_bounds()) {
    CAPTURE(bounds.place.type, bounds.place.packed);
    const at::Tensor scores = nets::Bisenet(weights, config, bounds.place)(image);
    const at::Tensor difference = (scores.to(at::kDouble) - expected).abs();
    const double off = difference.max().item<double>() / expected.std().item<double>();
    CHECK(off < bounds.most);
    CHECK(off >= bounds.least);
  }
}
