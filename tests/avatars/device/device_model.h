// The demo's nets as a GPU has them, on the CPU, and what tests of finished pictures compare.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "avatars/bundle/bundle.h"
#include "core/files/data_directory.h"
#include "gpu/model/model.h"

namespace navtalk::test {

inline std::filesystem::path demo_of_device() { return data_directory() / "demo"; }

inline Model device_model(std::size_t frame_bytes) {
  return Model::load({.models = demo_of_device() / "models",
                      .device = {},
                      .precision = Precision::fp32,
                      .threads = 1,
                      .as_on_gpu = true,
                      .frame_bytes = frame_bytes,
                      .vae_encoder = false});
}

inline std::shared_ptr<const Bundle> opened_of_device(const std::filesystem::path& folder) {
  auto bundle = std::make_shared<Bundle>(Bundle::open(folder));
  bundle->ensure_latents(latents_of_model(demo_of_device() / "models"), LatentCache::of_user());
  return bundle;
}

inline std::shared_ptr<const Bundle> ada_of_device() {
  return opened_of_device(demo_of_device() / "avatars/ada");
}

inline std::vector<std::uint8_t> bytes_of(const FinishedPicture& picture) {
  return {picture.nv12().begin(), picture.nv12().end()};
}

// In grey levels.
inline int furthest_level(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  REQUIRE(a.size() == b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(int{a[i]} - int{b[i]}));
  return most;
}

}  // namespace navtalk::test
