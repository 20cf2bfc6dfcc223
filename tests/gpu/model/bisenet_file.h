// A BiSeNet with small random weights, as a file of the checkpoint folder.
#pragma once

#include <cmath>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include "core/checkpoint/safetensors_writer.h"
#include "gpu/nets/faces/expected_bisenet.h"

namespace navtalk::tests {

inline const BisenetConfig k_small_bisenet{
    .widths = {4, 6, 8, 12}, .context = 6, .fused = 10, .gate = 3, .head = 8};

// `favoured` >= 0: the class whose score is the highest nearly everywhere. `without`: a tensor that is left out.
inline std::filesystem::path write_bisenet(const std::filesystem::path& models, int favoured = -1,
                                           const std::string& without = {}) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> values;
  SafetensorsWriter writer;
  for (const TensorInfo& info : expected_bisenet(k_small_bisenet)) {
    if (info.name == without) continue;
    std::vector<float>& own = values.emplace_back(element_count(info.shape));
    const std::size_t fan_in =
        info.shape.size() == 4 ? own.size() / static_cast<std::size_t>(info.shape[0]) : 0;
    for (float& value : own)
      value = fan_in > 0 ? normal(random) * std::sqrt(2.0F / static_cast<float>(fan_in))
                         : 1 + 0.1F * normal(random);
    // What comes before is never negative, so a row of large weights wins.
    if (info.name == "conv_out.conv_out.weight" && favoured >= 0) {
      const std::size_t row = own.size() / k_parsing_classes;
      for (std::size_t i = 0; i < row; ++i) own[static_cast<std::size_t>(favoured) * row + i] = 9;
    }
    writer.add(info.name, info.dtype, info.shape, std::as_bytes(std::span(own)));
  }
  const std::int64_t steps = 80000;
  writer.add("cp.resnet.bn1.num_batches_tracked", DType::i64, {},
             std::as_bytes(std::span(&steps, 1)));
  std::filesystem::create_directories(models / "face-parse-bisent");
  const std::filesystem::path file = models / "face-parse-bisent/79999_iter.safetensors";
  writer.write(file);
  return file;
}

}  // namespace navtalk::tests
