#include "gpu/nets/faces/bisenet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gpu/nets/layers/folded_norm.h"

namespace navtalk::nets {
namespace {

at::Tensor mean_of(const at::Tensor& map) { return map.mean({2, 3}); }

at::Tensor as_map(const at::Tensor& vector) { return vector.unsqueeze(2).unsqueeze(3); }

}  // namespace

class Bisenet::Builder {
 public:
  Builder(const Weights& weights, const Placement& place) : weights_(weights), place_(place) {}
  const Placement& place() const { return place_; }

  Conv conv(const std::string& conv, const std::string& norm, Conv::Geometry geometry,
            Activation activation = Activation::relu) const {
    const FoldedConv both = folded_norm(weights_, conv, norm);
    geometry.activation = activation;
    geometry.kernel = winograd_in_fp32(place_);
    geometry.split_sums = false;
    return {both.weight, both.bias, geometry, place_};
  }
  // `size`: of the input's sides.
  Conv unit(const std::string& name, std::int64_t padding, std::int64_t size) const {
    return conv(name + ".conv", name + ".bn",
                {.padding = {padding, padding}, .map_size = {size, size}});
  }
  UpConv doubled(const std::string& name, std::int64_t size) const {
    const FoldedConv both = folded_norm(weights_, name + ".conv", name + ".bn");
    return {both.weight, both.bias, size, place_};
  }
  Dense dense(const std::string& conv, const std::string& norm) const {
    const FoldedConv both = folded_norm(weights_, conv, norm);
    return {place_.place(both.weight.flatten(1)), place_.place(both.bias)};
  }
  Dense dense(const std::string& conv) const {
    return {place_.place(weights_(conv + ".weight").flatten(1)), at::Tensor()};
  }
  Refinement refinement(const std::string& name, std::int64_t size) const {
    return {unit(name + ".conv", 1, size), dense(name + ".conv_atten", name + ".bn_atten")};
  }
  Block block(const std::string& name, std::int64_t stride, std::int64_t size) const {
    const std::int64_t inner = size / stride;
    Block made{conv(name + ".conv1", name + ".bn1", {.stride = stride, .map_size = {size, size}}),
               conv(name + ".conv2", name + ".bn2", {.map_size = {inner, inner}}), std::nullopt};
    if (stride != 1)
      made.shortcut.emplace(conv(name + ".downsample.0", name + ".downsample.1",
                                 {.stride = stride, .padding = {0, 0}, .map_size = {size, size}},
                                 Activation::none));
    return made;
  }
  Conv classes(const BisenetConfig& config, std::int64_t size) const {
    return {weights_("conv_out.conv_out.weight"),
            at::zeros({config.classes}),
            {.padding = {0, 0}, .map_size = {size, size}},
            place_};
  }

 private:
  const Weights& weights_;
  const Placement& place_;
};

at::Tensor Bisenet::Block::operator()(const at::Tensor& x) const {
  return second.plus(first(x), shortcut ? (*shortcut)(x) : x);
}

at::Tensor Bisenet::Dense::operator()(const at::Tensor& x) const {
  return at::linear(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

at::Tensor Bisenet::Refinement::operator()(const at::Tensor& x) const {
  const at::Tensor h = conv(x);
  return h * as_map(gate(mean_of(h)).sigmoid_());
}

Bisenet::Bisenet(const Weights& weights, const BisenetConfig& config, const Placement& place)
    : Bisenet(Builder(weights, place), config) {}

Bisenet::Bisenet(const Builder& build, const BisenetConfig& config)
    : place_(build.place()),
      stem_(build.conv(
          "cp.resnet.conv1", "cp.resnet.bn1",
          {.stride = 2, .padding = {3, 3}, .map_size = {k_parsing_size, k_parsing_size}})),
      refine16_(build.refinement("cp.arm16", k_parsing_size / 16)),
      refine32_(build.refinement("cp.arm32", k_parsing_size / 32)),
      average_(build.dense("cp.conv_avg.conv", "cp.conv_avg.bn")),
      head32_(build.doubled("cp.conv_head32", k_parsing_size / 32)),
      head16_(build.doubled("cp.conv_head16", k_parsing_size / 16)),
      fuse_(build.unit("ffm.convblk", 0, k_parsing_size / 8)),
      squeeze_(build.dense("ffm.conv1")),
      expand_(build.dense("ffm.conv2")),
      out_(build.unit("conv_out.conv", 1, k_parsing_size / 8)),
      classes_(build.classes(config, k_parsing_size / 8)) {
  std::int64_t size = k_parsing_size / 4;
  for (std::size_t i = 0; i < config.widths.size(); ++i) {
    const std::string name = fmt::format("cp.resnet.layer{}", i + 1);
    const std::int64_t stride = i == 0 ? 1 : 2;
    std::vector<Block>& stage = stages_.emplace_back();
    stage.push_back(build.block(name + ".0", stride, size));
    size /= stride;
    stage.push_back(build.block(name + ".1", 1, size));
  }
}

at::Tensor Bisenet::operator()(const at::Tensor& image) const {
  at::Tensor x =
      stem_(image.to(place_.device, place_.type).contiguous(at::MemoryFormat::ChannelsLast));
  x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
  std::vector<at::Tensor> features;  // at 1/4, 1/8, 1/16 and 1/32
  for (const std::vector<Block>& stage : stages_) {
    for (const Block& block : stage) x = block(x);
    features.push_back(x);
  }
  const at::Tensor surroundings = as_map(average_(mean_of(features[3])).relu_());
  const at::Tensor at16 = head32_(refine32_(features[3]) + surroundings).relu_();
  const at::Tensor at8 = head16_(refine16_(features[2]) + at16).relu_();

  const at::Tensor fused = fuse_(at::cat({features[1], at8}, 1));
  const at::Tensor gate = expand_(squeeze_(mean_of(fused)).relu_()).sigmoid_();
  return classes_(out_(fused * as_map(gate) + fused)).to(at::kFloat).contiguous();
}

}  // namespace navtalk::nets
