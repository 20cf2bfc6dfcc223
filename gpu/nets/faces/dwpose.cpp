#include "gpu/nets/faces/dwpose.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "gpu/nets/layers/folded_norm.h"

namespace navtalk::nets {
namespace {

constexpr std::size_t k_last_stage = 3;

// x / max(|x| / sqrt(n), 1e-5) * g over the last axis, which has the length n.
at::Tensor scaled(const at::Tensor& x, const at::Tensor& g) {
  const double share = std::pow(static_cast<double>(x.size(-1)), -0.5);
  const at::Tensor length = at::norm(x, 2, {-1}, true) * share;
  return x / length.clamp_min(1e-5) * g;
}

// With zeros behind the outputs of a convolution up to the next multiple of k_kernel_step, which our own kernels take.
at::Tensor filled_up(const at::Tensor& x) {
  const std::int64_t missing = (k_kernel_step - x.size(0) % k_kernel_step) % k_kernel_step;
  std::vector<std::int64_t> size = x.sizes().vec();
  size[0] = missing;
  return at::cat({x, at::zeros(size, x.options())});
}

}  // namespace

class Dwpose::Builder {
 public:
  Builder(const Weights& weights, const Placement& place) : weights_(weights), place_(place) {}
  const Placement& place() const { return place_; }

  // `rows`, `columns`: of the input.
  struct MapSize {
    std::int64_t rows, columns;
    MapSize halved() const { return {rows / 2, columns / 2}; }
  };
  static constexpr MapSize k_input{k_pose_height, k_pose_width};

  Conv unit(const std::string& name, std::int64_t kernel, const MapSize& size,
            std::int64_t stride = 1, std::int64_t groups = 1) const {
    const FoldedConv both = folded_norm(weights_, name + ".conv", name + ".bn");
    return {both.weight,
            both.bias,
            {.stride = stride,
             .padding = {kernel / 2, kernel / 2},
             .map_size = {size.rows, size.columns},
             .groups = groups,
             .activation = Activation::silu,
             .kernel = winograd_in_fp32(place_),
             .split_sums = false},
            place_};
  }
  Block block(const std::string& name, std::int64_t width, const MapSize& size) const {
    return {unit(name + ".conv1", 3, size), unit(name + ".conv2.depthwise_conv", 5, size, 1, width),
            unit(name + ".conv2.pointwise_conv", 1, size)};
  }
  Stage stage(const std::string& name, std::int64_t width, int blocks, bool residual,
              const MapSize& size) const {
    Stage made{.main = unit(name + ".main_conv", 1, size),
               .beside = unit(name + ".short_conv", 1, size),
               .end = unit(name + ".final_conv", 1, size),
               .blocks = {},
               .gate_weight = placed(name + ".attention.fc.weight").flatten(1),
               .gate_bias = placed(name + ".attention.fc.bias"),
               .residual = residual};
    for (int i = 0; i < blocks; ++i)
      made.blocks.push_back(block(fmt::format("{}.blocks.{}", name, i), width / 2, size));
    return made;
  }
  Pooling pooling(const std::string& name, const MapSize& size) const {
    return {unit(name + ".conv1", 1, size), unit(name + ".conv2", 1, size)};
  }
  Head head(const DwposeConfig& config) const {
    const std::int64_t margin = config.final_kernel / 2;
    return {.maps = Conv(filled_up(weights_("head.final_layer.weight")),
                         filled_up(weights_("head.final_layer.bias")),
                         {.padding = {margin, margin},
                          .map_size = {k_pose_height / 32, k_pose_width / 32},
                          .kernel = winograd_in_fp32(place_),
                          .split_sums = false},
                         place_),
            .points = weights_("head.final_layer.weight").size(0),
            .map_scale = precise("head.mlp.0.g"),
            .token_scale = precise("head.gau.ln.g"),
            .gamma = precise("head.gau.gamma"),
            .beta = precise("head.gau.beta"),
            .residual_scale = precise("head.gau.res_scale.scale"),
            .mlp = linear("head.mlp.1.weight"),
            .uv = linear("head.gau.uv.weight"),
            .out = linear("head.gau.o.weight"),
            .bins_x = linear("head.cls_x.weight"),
            .bins_y = linear("head.cls_y.weight"),
            .expanded = config.expanded,
            .attention = config.attention};
  }

 private:
  // In the placement's type: of layers within the backbone.
  at::Tensor placed(const std::string& name) const { return place_.place(weights_(name)); }
  // fp32, as is all of the head.
  Linear linear(const std::string& name) const {
    const std::int64_t tokens = 2 * weights_("head.final_layer.weight").size(0);
    return {weights_(name), {}, tokens, place_.in(at::kFloat)};
  }
  at::Tensor precise(const std::string& name) const {
    return weights_(name).to(place_.device, at::kFloat);
  }

  const Weights& weights_;
  const Placement& place_;
};

at::Tensor Dwpose::Stage::operator()(const at::Tensor& x) const {
  at::Tensor h = main(x);
  for (const Block& block : blocks) {
    const at::Tensor seen = block.depthwise(block.first(h));
    h = residual ? block.pointwise.then_plus(seen, h) : block.pointwise(seen);
  }
  at::Tensor both = at::cat({h, beside(x)}, 1);
  const at::Tensor gate = at::hardsigmoid(at::linear(both.mean({2, 3}), gate_weight, gate_bias));
  return end(both.mul_(gate.unsqueeze(2).unsqueeze(3)));
}

at::Tensor Dwpose::Pooling::operator()(const at::Tensor& x) const {
  const at::Tensor h = before(x);
  const auto largest = [](const at::Tensor& of) {
    return at::max_pool2d(of, {5, 5}, {1, 1}, {2, 2});
  };
  // The largest of 5x5 among those of 5x5 is that of 9x9.
  const at::Tensor five = largest(h), nine = largest(five);
  return after(at::cat({h, five, nine, largest(nine)}, 1));
}

// Gated attention between the points. Its weights are squares of what is positive, not a softmax.
Dwpose::Bins Dwpose::Head::operator()(const at::Tensor& features) const {
  const at::Tensor seen_maps = maps(features).narrow(1, 0, points).to(at::kFloat).flatten(2);
  const at::Tensor tokens = mlp(scaled(seen_maps, map_scale));
  at::Tensor mixed = uv(scaled(tokens, token_scale));
  at::silu_(mixed);
  const auto parts = mixed.split_with_sizes({expanded, expanded, attention}, -1);
  const at::Tensor query = parts[2] * gamma[0] + beta[0], key = parts[2] * gamma[1] + beta[1];
  const at::Tensor alike =
      at::matmul(query, key.transpose(1, 2)) / std::sqrt(static_cast<double>(attention));
  const at::Tensor seen = parts[0] * at::matmul(at::square(at::relu(alike)), parts[1]);
  const at::Tensor refined = out.plus(seen, tokens * residual_scale);
  return {bins_x(refined), bins_y(refined)};
}

Dwpose::Dwpose(const Weights& weights, const DwposeConfig& config, const Placement& place)
    : Dwpose(Builder(weights, place), config) {}

Dwpose::Dwpose(const Builder& build, const DwposeConfig& config)
    : place_(build.place()),
      pooling_(build.pooling("backbone.stage4.1", {k_pose_height / 32, k_pose_width / 32})),
      head_(build.head(config)) {
  Builder::MapSize size = Builder::k_input;
  for (std::size_t i = 0; i < config.stem.size(); ++i) {
    stem_.push_back(build.unit(fmt::format("backbone.stem.{}", i), 3, size, i == 0 ? 2 : 1));
    if (i == 0) size = size.halved();
  }
  for (std::size_t i = 0; i < config.widths.size(); ++i) {
    const std::string name = fmt::format("backbone.stage{}", i + 1);
    halvings_.push_back(build.unit(name + ".0", 3, size, 2));
    size = size.halved();
    const bool last = i == k_last_stage;
    stages_.push_back(build.stage(name + (last ? ".2" : ".1"), config.widths.at(i),
                                  config.blocks.at(i), !last, size));
  }
}

Dwpose::Bins Dwpose::operator()(const at::Tensor& image) const {
  at::Tensor x = image.to(place_.device, place_.type).contiguous(at::MemoryFormat::ChannelsLast);
  for (const Conv& unit : stem_) x = unit(x);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    x = halvings_[i](x);
    if (i == k_last_stage) x = pooling_(x);
    x = stages_[i](x);
  }
  return head_(x);
}

}  // namespace navtalk::nets
