// A net with small random weights, as a file of the checkpoint folder.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/safetensors_writer.h"

namespace navtalk::tests {

// Kernels are drawn so that maps keep their scale; all that has one axis is about 1. `change` may overwrite a tensor's values. `without`: a
// tensor that is left out.
inline void write_random_net(
    const std::filesystem::path& file, const std::vector<TensorInfo>& tensors,
    const std::string& without = {},
    const std::function<void(const TensorInfo&, std::vector<float>&)>& change = {}) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> values;
  values.reserve(tensors.size());
  SafetensorsWriter writer;
  for (const TensorInfo& info : tensors) {
    if (info.name == without) continue;
    std::vector<float>& own = values.emplace_back(element_count(info.shape));
    const std::size_t fan_in =
        info.shape.size() > 1 ? own.size() / static_cast<std::size_t>(info.shape[0]) : 0;
    for (float& value : own)
      value = fan_in > 0 ? normal(random) * std::sqrt(2.0F / static_cast<float>(fan_in))
                         : 1 + 0.1F * normal(random);
    if (change) change(info, own);
    writer.add(info.name, info.dtype, info.shape, std::as_bytes(std::span(own)));
  }
  std::filesystem::create_directories(file.parent_path());
  writer.write(file);
}

}  // namespace navtalk::tests
