// Stands for the model that makes latents: easy to predict, and it counts its work.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "avatars/bundle/latents/latents.h"

namespace navtalk::tests {

// Of its weights.
inline const std::string k_checksum(64, 'c');

// Every value of a crop's latent is the crop's mean grey.
struct FakeModel {
  int faces = 0;  // encoded so far
  int batches = 0;
  int opened = 0;

  NdArray<float> operator()(std::span<const ConstImageView> crops) {
    NdArray<float> latents({std::ssize(crops), 8, 32, 32});
    for (std::size_t i = 0; i < crops.size(); ++i) {
      double sum = 0;
      for (int y = 0; y < 256; ++y)
        for (int x = 0; x < 256 * 3; ++x) sum += crops[i].row(y)[x];
      std::fill_n(latents.row(static_cast<std::int64_t>(i)), 8 * 32 * 32,
                  static_cast<float>(sum / (256.0 * 256 * 3)));
    }
    faces += static_cast<int>(crops.size());
    ++batches;
    return latents;
  }

  // As the caller of preparation or of Bundle::ensure_latents names it. The fake must outlive it.
  LatentOptions named(const std::string& checksum) {
    return {checksum, [this]() -> FaceEncoder {
              ++opened;
              return [this](std::span<const ConstImageView> crops) { return (*this)(crops); };
            }};
  }
};

}  // namespace navtalk::tests
