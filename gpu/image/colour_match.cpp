#include "gpu/image/colour_match.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/base/check.h"

namespace navtalk {
namespace {

constexpr int k_channels = 3, k_levels = 256;

// Sums of whole numbers: their order does not change them.
struct SeamSums {
  std::uint64_t count = 0;
  std::array<std::uint64_t, k_channels> sum{}, squares{};

  void add(const std::uint8_t* pixel) {
    ++count;
    for (std::size_t c = 0; c < k_channels; ++c) {
      sum[c] += pixel[c];
      squares[c] += std::uint64_t{pixel[c]} * pixel[c];
    }
  }
  double mean(std::size_t c) const {
    return static_cast<double>(sum[c]) / static_cast<double>(count);
  }
  // count * count times the variance, exactly: of k_most_seam levels it still fits.
  std::uint64_t spread(std::size_t c) const { return count * squares[c] - sum[c] * sum[c]; }
  // The deviation is less than one level.
  bool flat(std::size_t c) const { return spread(c) < count * count; }
  double deviation(std::size_t c) const {
    return std::sqrt(static_cast<double>(spread(c))) / static_cast<double>(count);
  }
};

using Levels = std::array<std::uint8_t, k_levels>;

// What becomes of each level of that channel.
Levels levels(const SeamSums& from, const SeamSums& to, std::size_t c) {
  const double from_mean = from.mean(c);
  const double gain = from.flat(c) || to.flat(c) ? 1
                                                 : std::clamp(to.deviation(c) / from.deviation(c),
                                                              1 / k_most_gain, k_most_gain);
  const double shift = std::clamp(to.mean(c) - from_mean, -k_most_shift, k_most_shift);
  Levels result{};
  for (int level = 0; level < k_levels; ++level) {
    const double value = (level - from_mean) * gain + from_mean + shift;
    result.at(static_cast<std::size_t>(level)) =
        static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
  }
  return result;
}

}  // namespace

void match_colours(ImageView face, ConstImageView frame, ConstImageView mask) {
  NAVTALK_CHECK(face.channels == k_channels && frame.channels == k_channels && mask.channels == 1);
  NAVTALK_CHECK(face.width == frame.width && face.height == frame.height);
  NAVTALK_CHECK(face.width == mask.width && face.height == mask.height);
  SeamSums generated, wanted;
  for (int y = 0; y < face.height; ++y) {
    for (int x = 0; x < face.width; ++x) {
      const std::uint8_t weight = *mask.at(x, y);
      if (weight == 0 || weight == 255) continue;
      generated.add(face.at(x, y));
      wanted.add(frame.at(x, y));
    }
  }
  if (generated.count < k_least_seam || generated.count > k_most_seam) return;
  std::array<Levels, k_channels> tables{};
  for (std::size_t c = 0; c < k_channels; ++c) tables[c] = levels(generated, wanted, c);
  for (int y = 0; y < face.height; ++y) {
    std::uint8_t* pixel = face.row(y);
    for (int x = 0; x < face.width; ++x, pixel += k_channels)
      for (std::size_t c = 0; c < k_channels; ++c) pixel[c] = tables[c].at(pixel[c]);
  }
}

}  // namespace navtalk
