// The landmark net against the unfolded formulas of its modules in double, on random weights.
#include "gpu/nets/faces/dwpose.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "gpu/nets/faces/expected_dwpose.h"
#include "tests/gpu/nets/faces/placements.h"

using namespace navtalk;

namespace {

using PoseWeights = std::map<std::string, at::Tensor>;

PoseWeights random_pose(const DwposeConfig& config) {
  PoseWeights tensors;
  for (const TensorInfo& info : expected_dwpose(config)) {
    at::Tensor& tensor = tensors[info.name];
    tensor = at::randn(info.shape);
    if (info.shape.size() > 1)
      tensor *= 1.5 / std::sqrt(static_cast<double>(tensor.numel() / tensor.size(0)));
    else if (info.name.ends_with("running_var"))
      tensor = at::rand(info.shape) + 0.5;
    else
      tensor = 0.1 * tensor + (info.name.ends_with("bias") || info.name.ends_with("mean") ? 0 : 1);
  }
  return tensors;
}

// The net as its modules are written, in double.
class PoseFormula {
 public:
  PoseFormula(const PoseWeights& tensors, const DwposeConfig& config)
      : tensors_(tensors), config_(config) {}

  std::pair<at::Tensor, at::Tensor> operator()(at::Tensor x) const {
    for (int i = 0; i < 3; ++i) x = unit(fmt::format("backbone.stem.{}", i), x, i == 0 ? 2 : 1);
    for (std::size_t stage = 0; stage < 4; ++stage) {
      const std::string name = fmt::format("backbone.stage{}", stage + 1);
      x = unit(name + ".0", x, 2);
      if (stage == 3) x = pooled(name + ".1", x);
      x = csp(name + (stage == 3 ? ".2" : ".1"), x, config_.blocks.at(stage), stage < 3);
    }
    return head(x);
  }

 private:
  at::Tensor get(const std::string& name) const { return tensors_.at(name).to(at::kDouble); }
  at::Tensor unit(const std::string& name, const at::Tensor& x, std::int64_t stride = 1) const {
    const at::Tensor weight = get(name + ".conv.weight");
    const at::Tensor y =
        at::conv2d(x, weight, {}, stride, weight.size(2) / 2, 1, x.size(1) / weight.size(1));
    return at::silu(at::batch_norm(y, get(name + ".bn.weight"), get(name + ".bn.bias"),
                                   get(name + ".bn.running_mean"), get(name + ".bn.running_var"),
                                   false, 0.1, 1e-5, false));
  }
  at::Tensor pooled(const std::string& name, const at::Tensor& x) const {
    const at::Tensor y = unit(name + ".conv1", x);
    std::vector<at::Tensor> all{y};
    for (const std::int64_t k : {5, 9, 13}) all.push_back(at::max_pool2d(y, k, 1, k / 2));
    return unit(name + ".conv2", at::cat(all, 1));
  }
  at::Tensor csp(const std::string& name, const at::Tensor& x, int blocks, bool add) const {
    const at::Tensor beside = unit(name + ".short_conv", x);
    at::Tensor y = unit(name + ".main_conv", x);
    for (int i = 0; i < blocks; ++i) {
      const std::string block = fmt::format("{}.blocks.{}", name, i);
      const at::Tensor z = unit(block + ".conv2.pointwise_conv",
                                unit(block + ".conv2.depthwise_conv", unit(block + ".conv1", y)));
      y = add ? z + y : z;
    }
    const at::Tensor both = at::cat({y, beside}, 1);
    const at::Tensor gate = at::conv2d(both.mean({2, 3}, true), get(name + ".attention.fc.weight"),
                                       get(name + ".attention.fc.bias"));
    return unit(name + ".final_conv", both * (gate + 3).clamp(0, 6) / 6);
  }
  std::pair<at::Tensor, at::Tensor> head(const at::Tensor& x) const {
    const at::Tensor weight = get("head.final_layer.weight");
    const at::Tensor maps =
        at::conv2d(x, weight, get("head.final_layer.bias"), 1, weight.size(2) / 2);
    const at::Tensor tokens =
        at::matmul(normed("head.mlp.0.g", maps.flatten(2)), get("head.mlp.1.weight").t());
    const at::Tensor uv =
        at::silu(at::matmul(normed("head.gau.ln.g", tokens), get("head.gau.uv.weight").t()));
    const at::Tensor u = uv.narrow(2, 0, config_.expanded);
    const at::Tensor v = uv.narrow(2, config_.expanded, config_.expanded);
    const at::Tensor base = uv.narrow(2, 2 * config_.expanded, config_.attention);
    const at::Tensor q = base * get("head.gau.gamma")[0] + get("head.gau.beta")[0];
    const at::Tensor k = base * get("head.gau.gamma")[1] + get("head.gau.beta")[1];
    const at::Tensor a =
        at::relu(at::matmul(q, k.transpose(1, 2)) / std::sqrt(1.0 * config_.attention)).pow(2);
    const at::Tensor out = tokens * get("head.gau.res_scale.scale") +
                           at::matmul(u * at::matmul(a, v), get("head.gau.o.weight").t());
    return {at::matmul(out, get("head.cls_x.weight").t()),
            at::matmul(out, get("head.cls_y.weight").t())};
  }
  at::Tensor normed(const std::string& name, const at::Tensor& x) const {
    const double size = static_cast<double>(x.size(2));
    const at::Tensor length = at::sqrt(x.pow(2).sum(2, true) / size);
    return x / length.clamp_min(1e-5) * get(name);
  }

  const PoseWeights& tensors_;
  const DwposeConfig& config_;
};

double off(const at::Tensor& computed, const at::Tensor& expected) {
  const at::Tensor difference = (computed.to(at::kDouble) - expected).abs();
  return difference.max().item<double>() / expected.std().item<double>();
}

}  // namespace

TEST_CASE("landmark scores in fp32 are within 1e-4 of the standard deviation of their formulas") {
  at::manual_seed(1);
  const DwposeConfig config{.stem = {8, 8, 16},
                            .widths = {24, 32, 40, 48},
                            .blocks = {1, 2, 1, 2},
                            .final_kernel = 5,
                            .hidden = 24,
                            .expanded = 40,
                            .attention = 12};
  const PoseWeights tensors = random_pose(config);
  const nets::Weights weights([&](const std::string& name) { return tensors.at(name); });
  const at::Tensor image = at::randn({2, 3, 384, 288});
  const auto [x, y] = PoseFormula(tensors, config)(image.to(at::kDouble));
  CHECK(x.sizes() == at::IntArrayRef({2, 133, 576}));
  for (const tests::PlacementBounds& bounds : tests::placement_bounds()) {
    CAPTURE(bounds.place.type, bounds.place.packed);
    const nets::Dwpose::Bins bins = nets::Dwpose(weights, config, bounds.place)(image);
    for (const double difference : {off(bins.x, x), off(bins.y, y)}) {
      CHECK(difference < bounds.most);
      CHECK(difference >= bounds.least);
    }
  }
}
