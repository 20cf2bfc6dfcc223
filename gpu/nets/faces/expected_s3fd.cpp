#include "gpu/nets/faces/expected_s3fd.h"

#include <fmt/format.h>

#include "gpu/nets/tensor_fit.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_widest_map = 4096;

class DetectionTensors {
 public:
  void conv(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    list_.push_back({name + ".weight", DType::f32, {out, in, kernel, kernel}});
    list_.push_back({name + ".bias", DType::f32, {out}});
  }
  void scale(const std::string& name, std::int64_t channels) {
    list_.push_back({name + ".weight", DType::f32, {channels}});
  }
  // Two classes, or four of which three mean the background, and four sides of a box.
  void heads(const std::string& name, std::int64_t in, std::int64_t classes) {
    conv(name + "_mbox_conf", in, classes, 3);
    conv(name + "_mbox_loc", in, 4, 3);
  }
  std::vector<TensorInfo> take() { return std::move(list_); }

 private:
  std::vector<TensorInfo> list_;
};

}  // namespace

S3fdConfig s3fd_config(const Checkpoint& checkpoint) {
  S3fdConfig config;
  std::vector<std::pair<std::string, int*>> sizes{
      {"fc6.weight", &config.dense[0]},       {"fc7.weight", &config.dense[1]},
      {"conv6_1.weight", &config.sixth[0]},   {"conv6_2.weight", &config.sixth[1]},
      {"conv7_1.weight", &config.seventh[0]}, {"conv7_2.weight", &config.seventh[1]}};
  for (std::size_t i = 0; i < config.widths.size(); ++i)
    sizes.emplace_back(fmt::format("conv{}_1.weight", i + 1), &config.widths[i]);
  for (const TensorInfo& info : checkpoint.tensors()) {
    const auto stored = canonical_name(Net::s3fd, info.name);
    for (const auto& [name, size] : sizes)
      if (stored == name && info.shape.size() == 4 && info.shape[0] > 0 &&
          info.shape[0] <= k_widest_map)
        *size = static_cast<int>(info.shape[0]);
  }
  return config;
}

std::vector<TensorInfo> expected_s3fd(const S3fdConfig& config) {
  DetectionTensors tensors;
  std::int64_t width = 3;
  for (std::size_t block = 0; block < config.widths.size(); ++block)
    for (int i = 1; i <= (block < 2 ? 2 : 3); ++i) {
      tensors.conv(fmt::format("conv{}_{}", block + 1, i), width, config.widths.at(block), 3);
      width = config.widths.at(block);
    }
  tensors.conv("fc6", width, config.dense[0], 3);
  tensors.conv("fc7", config.dense[0], config.dense[1], 1);
  tensors.conv("conv6_1", config.dense[1], config.sixth[0], 1);
  tensors.conv("conv6_2", config.sixth[0], config.sixth[1], 3);
  tensors.conv("conv7_1", config.sixth[1], config.seventh[0], 1);
  tensors.conv("conv7_2", config.seventh[0], config.seventh[1], 3);
  for (std::size_t block = 2; block < config.widths.size(); ++block) {
    const std::string norm = fmt::format("conv{}_3_norm", block + 1);
    tensors.scale(norm, config.widths.at(block));
    tensors.heads(norm, config.widths.at(block), block == 2 ? 4 : 2);
  }
  tensors.heads("fc7", config.dense[1], 2);
  tensors.heads("conv6_2", config.sixth[1], 2);
  tensors.heads("conv7_2", config.seventh[1], 2);
  return tensors.take();
}

}  // namespace navtalk
