#include "gpu/nets/faces/expected_dwpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/text/number.h"
#include "gpu/nets/tensor_fit.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_widest_layer = 4096, k_widest_kernel = 15;
constexpr int k_most_blocks = 64;
constexpr int k_pose_cells = k_pose_width / 32 * (k_pose_height / 32);

class PoseTensors {
 public:
  void add(const std::string& name, Shape shape) {
    list_.push_back({name, DType::f32, std::move(shape)});
  }
  // A convolution and its norm. `inputs`: of one group.
  void unit(const std::string& name, std::int64_t inputs, std::int64_t out, std::int64_t kernel) {
    add(name + ".conv.weight", {out, inputs, kernel, kernel});
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      add(name + ".bn" + part, {out});
  }
  void stage(const std::string& name, std::int64_t width, int blocks) {
    const std::int64_t half = width / 2;
    unit(name + ".main_conv", width, half, 1);
    unit(name + ".short_conv", width, half, 1);
    unit(name + ".final_conv", width, width, 1);
    for (int i = 0; i < blocks; ++i) {
      const std::string block = fmt::format("{}.blocks.{}", name, i);
      unit(block + ".conv1", half, half, 3);
      unit(block + ".conv2.depthwise_conv", 1, half, 5);
      unit(block + ".conv2.pointwise_conv", half, half, 1);
    }
    add(name + ".attention.fc.weight", {width, width, 1, 1});
    add(name + ".attention.fc.bias", {width});
  }
  std::vector<TensorInfo> take() { return std::move(list_); }

 private:
  std::vector<TensorInfo> list_;
};

// Where a stage's blocks are: behind its first convolution, and in the last stage behind the pooling too.
std::string blocks_of(std::size_t stage) {
  return fmt::format("backbone.stage{}.{}", stage + 1, stage == 3 ? 2 : 1);
}

// How many of "PREFIX.blocks.0", "PREFIX.blocks.1", ... the file names.
int count_blocks(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::string start = prefix + ".blocks.";
  int count = 0;
  for (const TensorInfo& info : checkpoint.tensors()) {
    const auto name = canonical_name(Net::dwpose, info.name);
    if (!name || !name->starts_with(start)) continue;
    std::string_view rest = std::string_view(*name).substr(start.size());
    if (const auto number = take_number<int>(rest); number && *number < k_most_blocks)
      count = std::max(count, *number + 1);
  }
  return count;
}

}  // namespace

DwposeConfig dwpose_config(const Checkpoint& checkpoint) {
  const auto length = [&](const std::string& tensor, std::size_t axis, int otherwise) {
    for (const TensorInfo& info : checkpoint.tensors())
      if (canonical_name(Net::dwpose, info.name) == tensor && info.shape.size() > axis &&
          info.shape[axis] > 0 && info.shape[axis] <= k_widest_layer)
        return static_cast<int>(info.shape[axis]);
    return otherwise;
  };
  const auto require = [&](int value, int wanted, const char* what) {
    if (value != wanted)
      throw Error(Code::invalid, fmt::format("{}: has {} {}, whole-body landmarks have {}",
                                             checkpoint.path().string(), value, what, wanted));
  };
  require(length("head.final_layer.weight", 0, k_pose_points), k_pose_points, "points");
  require(length("head.mlp.1.weight", 1, k_pose_cells), k_pose_cells, "cells of 32 pixels");
  require(length("head.cls_x.weight", 0, k_pose_bins * k_pose_width), k_pose_bins * k_pose_width,
          "bins across");
  require(length("head.cls_y.weight", 0, k_pose_bins * k_pose_height), k_pose_bins * k_pose_height,
          "bins down");

  DwposeConfig config;
  for (std::size_t i = 0; i < config.stem.size(); ++i)
    config.stem.at(i) =
        length(fmt::format("backbone.stem.{}.conv.weight", i), 0, config.stem.at(i));
  for (std::size_t i = 0; i < config.widths.size(); ++i) {
    config.widths.at(i) =
        length(fmt::format("backbone.stage{}.0.conv.weight", i + 1), 0, config.widths.at(i));
    if (const int count = count_blocks(checkpoint, blocks_of(i)); count > 0)
      config.blocks.at(i) = count;
  }
  config.final_kernel = std::min(length("head.final_layer.weight", 2, config.final_kernel),
                                 static_cast<int>(k_widest_kernel));
  config.hidden = length("head.mlp.1.weight", 0, config.hidden);
  config.expanded = length("head.gau.o.weight", 1, config.expanded);
  config.attention = length("head.gau.gamma", 1, config.attention);
  return config;
}

std::vector<TensorInfo> expected_dwpose(const DwposeConfig& config) {
  PoseTensors tensors;
  std::int64_t width = 3;
  for (std::size_t i = 0; i < config.stem.size(); ++i) {
    tensors.unit(fmt::format("backbone.stem.{}", i), width, config.stem.at(i), 3);
    width = config.stem.at(i);
  }
  for (std::size_t i = 0; i < config.widths.size(); ++i) {
    const std::string stage = fmt::format("backbone.stage{}", i + 1);
    const std::int64_t own = config.widths.at(i);
    tensors.unit(stage + ".0", width, own, 3);
    if (i == 3) {
      tensors.unit(stage + ".1.conv1", own, own / 2, 1);
      tensors.unit(stage + ".1.conv2", own / 2 * 4, own, 1);
    }
    tensors.stage(blocks_of(i), own, config.blocks.at(i));
    width = own;
  }
  const std::int64_t hidden = config.hidden, expanded = config.expanded, keys = config.attention;
  tensors.add("head.final_layer.weight",
              {k_pose_points, width, config.final_kernel, config.final_kernel});
  tensors.add("head.final_layer.bias", {k_pose_points});
  tensors.add("head.mlp.0.g", {1});
  tensors.add("head.mlp.1.weight", {hidden, k_pose_cells});
  tensors.add("head.gau.ln.g", {1});
  tensors.add("head.gau.uv.weight", {2 * expanded + keys, hidden});
  tensors.add("head.gau.gamma", {2, keys});
  tensors.add("head.gau.beta", {2, keys});
  tensors.add("head.gau.o.weight", {hidden, expanded});
  tensors.add("head.gau.res_scale.scale", {hidden});
  tensors.add("head.cls_x.weight", {k_pose_bins * k_pose_width, hidden});
  tensors.add("head.cls_y.weight", {k_pose_bins * k_pose_height, hidden});
  return tensors.take();
}

}  // namespace navtalk
