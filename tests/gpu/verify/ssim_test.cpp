// Structural similarity, against sums over windows that were written out in Python.
#include "gpu/verify/ssim.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

constexpr int k_width = 40, k_height = 30;

Image stripes() {
  Image picture(k_width, k_height);
  for (int y = 0; y < k_height; ++y)
    for (int x = 0; x < k_width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.view().at(x, y)[c] = static_cast<std::uint8_t>((x * 7 + y * 3 + c * 50) % 256);
  return picture;
}

Image disturbed() {
  Image picture = stripes();
  for (int y = 0; y < k_height; ++y)
    for (int x = 0; x < k_width; ++x)
      for (int c = 0; c < 3; ++c) {
        std::uint8_t& level = picture.view().at(x, y)[c];
        level = static_cast<std::uint8_t>(std::clamp(level + (x * 5 + y * 11) % 17 - 8, 0, 255));
      }
  return picture;
}

Image grey(std::uint8_t level) {
  Image picture(k_width, k_height);
  std::ranges::fill(picture.pixels, level);
  return picture;
}

}  // namespace

TEST_CASE("similarity is 1 for equal pictures, and that of its definition for others") {
  CHECK(ssim(stripes().view(), stripes().view()) == Approx(1).epsilon(1e-12));
  CHECK(ssim(stripes().view(), disturbed().view()) == Approx(0.9495887460272909).epsilon(1e-9));
  // Without structure only the brightness counts: (2 * 100 * 120 + c1) / (100^2 + 120^2 + c1).
  CHECK(ssim(grey(100).view(), grey(120).view()) == Approx(0.9836109249983688).epsilon(1e-9));
}
