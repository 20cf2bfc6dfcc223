// Pictures of reproducible noise: every implementation of this function, expectations.py's
// included, makes the same bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/tensor/image.h"

namespace navtalk {

// splitmix64 of (seed, i). "noise" has all levels, "extreme" only 0 and 255.
inline Image noise(std::uint64_t seed, int width, int height, int channels = 3,
                   std::string_view kind = "noise") {
  Image image(width, height, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    std::uint64_t z = (seed << 32) + (i + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    const auto level = static_cast<std::uint8_t>((z ^ (z >> 31)) >> 56);
    image.pixels[i] = kind == "extreme" ? (level < 128 ? 0 : 255) : level;
  }
  return image;
}

}  // namespace navtalk
