#include "gpu/image/blend.h"

#include <algorithm>
#include <vector>

#include "gpu/image/simd.h"

namespace navtalk {
namespace {

// The mask's row once for each channel, so that the blend is one straight loop.
NAVTALK_SIMD void spread3(const std::uint8_t* mask, int width, std::uint8_t* spread) {
  for (int x = 0; x < width; ++x) spread[3 * x] = spread[3 * x + 1] = spread[3 * x + 2] = mask[x];
}

void spread_any(const std::uint8_t* mask, int width, int channels, std::uint8_t* spread) {
  for (int x = 0; x < width; ++x) spread = std::fill_n(spread, channels, mask[x]);
}

// (u + (u >> 8)) >> 8 with u = x + 128 is x / 255 rounded, for every x up to 255 * 255; no step
// leaves 16 bits.
NAVTALK_SIMD void blend_row(std::uint8_t* base, const std::uint8_t* overlay,
                            const std::uint8_t* mask, int count) {
  for (int i = 0; i < count; ++i) {
    const auto u =
        static_cast<std::uint16_t>(base[i] * (255 - mask[i]) + overlay[i] * mask[i] + 128);
    base[i] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(u + (u >> 8)) >> 8);
  }
}

}  // namespace

void blend(ImageView base, ConstImageView overlay, ConstImageView mask) {
  NAVTALK_CHECK(mask.channels == 1 && base.channels == overlay.channels);
  NAVTALK_CHECK(base.width == overlay.width && base.height == overlay.height &&
                base.width == mask.width && base.height == mask.height);
  const int count = base.width * base.channels;
  std::vector<std::uint8_t> spread(static_cast<std::size_t>(count));
  for (int y = 0; y < base.height; ++y) {
    if (base.channels == 3)
      spread3(mask.row(y), mask.width, spread.data());
    else
      spread_any(mask.row(y), mask.width, base.channels, spread.data());
    blend_row(base.row(y), overlay.row(y), spread.data(), count);
  }
}

void blend(BatchView base, ConstBatchView overlay, ConstBatchView mask) {
  NAVTALK_CHECK(base.count == overlay.count && base.count == mask.count);
  for (int n = 0; n < base.count; ++n) blend(base[n], overlay[n], mask[n]);
}

}  // namespace navtalk
