#include "gpu/image/unsharp.h"

#include <algorithm>

#include "gpu/image/gaussian_blur.h"
#include "gpu/image/simd.h"

namespace navtalk {
namespace {

// destination holds the blurred row on entry, the sharpened one on return.
NAVTALK_SIMD void sharpen(const std::uint8_t* source, std::uint8_t* destination, int count,
                          float amount, int threshold) {
  // Adding and taking away 1.5 * 2^23 rounds a small float to a whole number, halves to even.
  constexpr float k_round = 12582912.0F;
  for (int i = 0; i < count; ++i) {
    const int value = source[i];
    const int detail = value - destination[i];
    // Choosing the factor, not the result, leaves the loop without a branch.
    const float factor = detail > -threshold && detail < threshold ? 0.0F : amount;
    const float sharp = static_cast<float>(value) + factor * static_cast<float>(detail);
    destination[i] = static_cast<std::uint8_t>(
        std::clamp(static_cast<int>((sharp + k_round) - k_round), 0, 255));
  }
}

}  // namespace

void unsharp_mask(ConstImageView source, ImageView destination, const Unsharp& unsharp) {
  gaussian_blur(source, destination, 2 * k_unsharp_reach + 1, unsharp.sigma);
  for (int y = 0; y < source.height; ++y)
    sharpen(source.row(y), destination.row(y), source.width * source.channels, unsharp.amount,
            unsharp.threshold);
}

void unsharp_mask(ConstBatchView source, BatchView destination, const Unsharp& unsharp) {
  for_each_image(source, destination,
                 [&](ConstImageView from, ImageView to) { unsharp_mask(from, to, unsharp); });
}

}  // namespace navtalk
