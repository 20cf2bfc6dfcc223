// The operations against their definitions, written as the plainest loops over real numbers; no
// arithmetic is shared with what is tested.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "gpu/image/blend.h"
#include "gpu/image/gaussian_blur.h"
#include "gpu/image/resize.h"
#include "gpu/image/unsharp.h"
#include "tests/gpu/image/noise.h"

namespace navtalk {
namespace {

// The pixel at (x, y), the nearest one where that lies outside.
double clamped(const Image& image, int x, int y, int channel) {
  x = std::clamp(x, 0, image.width - 1);
  y = std::clamp(y, 0, image.height - 1);
  return image.view().at(x, y)[channel];
}

double bilinear(const Image& image, double x, double y, int channel) {
  const double left = std::floor(x), top = std::floor(y);
  const int column = static_cast<int>(left), row = static_cast<int>(top);
  const double across = x - left, down = y - top;
  return (1 - down) * ((1 - across) * clamped(image, column, row, channel) +
                       across * clamped(image, column + 1, row, channel)) +
         down * ((1 - across) * clamped(image, column, row + 1, channel) +
                 across * clamped(image, column + 1, row + 1, channel));
}

}  // namespace

TEST_CASE("linear resizing is bilinear interpolation between pixel centres, within a level") {
  const auto [width, height] = GENERATE(std::pair{257, 255}, std::pair{31, 333}, std::pair{1, 9},
                                        std::pair{64, 1}, std::pair{401, 447});
  Image source = noise(5, 256, 256, 3);
  Image result(width, height, 3);
  resize(source.view(), result.view(), Interpolation::linear);
  double worst = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const double exact =
            bilinear(source, (x + 0.5) * 256 / width - 0.5, (y + 0.5) * 256 / height - 0.5, c);
        worst = std::max(worst, std::abs(exact - result.view().at(x, y)[c]));
      }
  CHECK(worst <= 1.0);
}

TEST_CASE("a part of a resize is the same bytes as in the whole") {
  const Interpolation interpolation = GENERATE(Interpolation::linear, Interpolation::lanczos4);
  const Box part = GENERATE(Box{0, 0, 1, 1}, Box{100, 90, 137, 181}, Box{136, 180, 137, 181},
                            Box{0, 60, 137, 100});
  Image source = noise(6, 61, 47), whole(137, 181), piece(part.width(), part.height());
  resize(source.view(), whole.view(), interpolation);
  resize_part(source.view(), 137, 181, part, piece.view(), interpolation);
  for (int y = 0; y < part.height(); ++y)
    REQUIRE(std::equal(piece.view().row(y), piece.view().row(y) + 3 * part.width(),
                       whole.view().at(part.x1, part.y1 + y)));
}

TEST_CASE("the Gaussian blur follows the bell curve and reflects at the border") {
  const int size = GENERATE(1, 3, 9, 35);
  Image source = noise(7, 23, 31, 1), result(23, 31, 1);
  gaussian_blur(source.view(), result.view(), size, 0.25 * size);
  const auto mirror = [](int i, int n) {
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  const auto bell = [&](int d) { return std::exp(-d * d / (2 * 0.0625 * size * size)); };
  double worst = 0;
  for (int y = 0; y < 31; ++y)
    for (int x = 0; x < 23; ++x) {
      double sum = 0, weights = 0;
      for (int v = -size / 2; v <= size / 2; ++v)
        for (int u = -size / 2; u <= size / 2; ++u) {
          sum += bell(u) * bell(v) * *source.view().at(mirror(x + u, 23), mirror(y + v, 31));
          weights += bell(u) * bell(v);
        }
      worst = std::max(worst, std::abs(sum / weights - *result.view().at(x, y)));
    }
  CHECK(worst <= 2.5);  // taps of 1/256: up to half a level each from 35 of them, both ways
}

TEST_CASE("a flat picture stays as it is when blurred or sharpened") {
  Image flat(19, 13, 3), result(19, 13, 3);
  std::fill(flat.pixels.begin(), flat.pixels.end(), std::uint8_t{255});
  gaussian_blur(flat.view(), result.view(), 11);
  CHECK(result == flat);
  unsharp_mask(flat.view(), result.view(), Unsharp{});
  CHECK(result == flat);
}

TEST_CASE("the unsharp mask leaves alone what differs from its blur by less than the threshold") {
  Image step(40, 1, 1);
  for (int x = 20; x < 40; ++x) step.pixels[x] = 12;
  Image result(40, 1, 1);
  unsharp_mask(step.view(), result.view(), {.amount = 1.0F, .threshold = 5});
  CHECK(result == step);
  unsharp_mask(step.view(), result.view(), {.amount = 1.0F, .threshold = 0});
  CHECK_FALSE(result == step);
}

TEST_CASE("blending is exact rounding of the weighted mean for every byte, overlay and mask") {
  Image overlay(256, 256, 1);
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) *overlay.view().at(x, y) = static_cast<std::uint8_t>(x);
  Image mask(256, 256, 1);
  int wrong = 0;
  for (int m = 0; m < 256; ++m) {
    Image base(256, 256, 1);
    for (int y = 0; y < 256; ++y)
      for (int x = 0; x < 256; ++x) *base.view().at(x, y) = static_cast<std::uint8_t>(y);
    std::fill(mask.pixels.begin(), mask.pixels.end(), static_cast<std::uint8_t>(m));
    blend(base.view(), overlay.view(), mask.view());
    for (int y = 0; y < 256; ++y)
      for (int x = 0; x < 256; ++x)
        wrong += *base.view().at(x, y) != (2 * (y * (255 - m) + x * m) + 255) / 510;
  }
  CHECK(wrong == 0);
}

TEST_CASE("one mask value serves all channels of a pixel, at any width") {
  const int width = GENERATE(1, 2, 15, 16, 17, 63, 101);
  const int channels = GENERATE(1, 3, 4);
  Image base = noise(8, width, 3, channels), overlay = noise(9, width, 3, channels);
  Image mask = noise(10, width, 3, 1);
  const Image before = base;
  blend(base.view(), overlay.view(), mask.view());
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const double share = *mask.view().at(x, y) / 255.0;
        const double exact =
            before.view().at(x, y)[c] * (1 - share) + overlay.view().at(x, y)[c] * share;
        REQUIRE(std::abs(exact - base.view().at(x, y)[c]) < 0.5001);
      }
}

TEST_CASE("a batch gives the same bytes as its images one by one") {
  constexpr int count = 3;
  Image faces = noise(11, 16, 16 * count), large(37, 29 * count),
        masks = noise(12, 37, 29 * count, 1);
  const auto sources = dense_batch(faces.pixels.data(), count, 16, 16);
  const auto results = dense_batch(large.pixels.data(), count, 37, 29);
  resize(sources, results, Interpolation::linear);
  Image sharp(37, 29 * count), base = noise(13, 37, 29 * count);
  unsharp_mask(results, dense_batch(sharp.pixels.data(), count, 37, 29), Unsharp{});
  Image alone_base = base;
  blend(dense_batch(base.pixels.data(), count, 37, 29),
        dense_batch(sharp.pixels.data(), count, 37, 29),
        dense_batch(masks.pixels.data(), count, 37, 29, 1));
  for (int n = 0; n < count; ++n) {
    Image one(37, 29), sharpened(37, 29);
    resize(sources[n], one.view(), Interpolation::linear);
    unsharp_mask(one.view(), sharpened.view(), Unsharp{});
    const Box place{0, 29 * n, 37, 29 * (n + 1)};
    blend(alone_base.view().crop(place), sharpened.view(), masks.view().crop(place));
  }
  CHECK(base == alone_base);
}

}  // namespace navtalk
