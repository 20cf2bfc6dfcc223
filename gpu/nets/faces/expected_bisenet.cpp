#include "gpu/nets/faces/expected_bisenet.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "gpu/nets/tensor_fit.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_widest = 4096;

class ParsingTensors {
 public:
  void weight(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    list_.push_back({name + ".weight", DType::f32, {out, in, kernel, kernel}});
  }
  void norm(const std::string& name, std::int64_t channels) {
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      list_.push_back({name + part, DType::f32, {channels}});
  }
  // A convolution and its norm, as most of the net's modules own them.
  void unit(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    weight(name + ".conv", in, out, kernel);
    norm(name + ".bn", out);
  }
  void block(const std::string& name, std::int64_t in, std::int64_t out, bool shortcut) {
    weight(name + ".conv1", in, out, 3);
    norm(name + ".bn1", out);
    weight(name + ".conv2", out, out, 3);
    norm(name + ".bn2", out);
    if (!shortcut) return;
    weight(name + ".downsample.0", in, out, 1);
    norm(name + ".downsample.1", out);
  }
  void refinement(const std::string& name, std::int64_t in, std::int64_t out) {
    unit(name + ".conv", in, out, 3);
    weight(name + ".conv_atten", out, out, 1);
    norm(name + ".bn_atten", out);
  }
  std::vector<TensorInfo> take() { return std::move(list_); }

 private:
  std::vector<TensorInfo> list_;
};

}  // namespace

BisenetConfig bisenet_config(const Checkpoint& checkpoint) {
  BisenetConfig config;
  std::vector<std::pair<std::string, int*>> sizes{{"cp.conv_head16.conv.weight", &config.context},
                                                  {"ffm.convblk.conv.weight", &config.fused},
                                                  {"ffm.conv1.weight", &config.gate},
                                                  {"conv_out.conv.conv.weight", &config.head},
                                                  {"conv_out.conv_out.weight", &config.classes}};
  for (std::size_t i = 0; i < config.widths.size(); ++i)
    sizes.emplace_back(fmt::format("cp.resnet.layer{}.0.conv1.weight", i + 1), &config.widths[i]);
  for (const TensorInfo& info : checkpoint.tensors()) {
    const auto stored = canonical_name(Net::bisenet, info.name);
    for (const auto& [name, size] : sizes)
      if (stored == name && info.shape.size() == 4 && info.shape[0] > 0 &&
          info.shape[0] <= k_widest)
        *size = static_cast<int>(info.shape[0]);
  }
  if (config.classes != k_parsing_classes)
    throw Error(Code::invalid,
                fmt::format("{}: tells {} classes apart, face parsing has {}",
                            checkpoint.path().string(), config.classes, k_parsing_classes));
  return config;
}

std::vector<TensorInfo> expected_bisenet(const BisenetConfig& config) {
  ParsingTensors tensors;
  const auto& widths = config.widths;
  tensors.weight("cp.resnet.conv1", 3, widths[0], 7);
  tensors.norm("cp.resnet.bn1", widths[0]);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string layer = fmt::format("cp.resnet.layer{}", i + 1);
    tensors.block(layer + ".0", widths[i == 0 ? 0 : i - 1], widths[i], i > 0);
    tensors.block(layer + ".1", widths[i], widths[i], false);
  }
  tensors.refinement("cp.arm16", widths[2], config.context);
  tensors.refinement("cp.arm32", widths[3], config.context);
  tensors.unit("cp.conv_head32", config.context, config.context, 3);
  tensors.unit("cp.conv_head16", config.context, config.context, 3);
  tensors.unit("cp.conv_avg", widths[3], config.context, 1);
  tensors.unit("ffm.convblk", widths[1] + config.context, config.fused, 1);
  tensors.weight("ffm.conv1", config.fused, config.gate, 1);
  tensors.weight("ffm.conv2", config.gate, config.fused, 1);
  tensors.unit("conv_out.conv", config.fused, config.head, 3);
  tensors.weight("conv_out.conv_out", config.head, config.classes, 1);
  return tensors.take();
}

}  // namespace navtalk
