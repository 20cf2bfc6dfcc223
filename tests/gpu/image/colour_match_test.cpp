#include "gpu/image/colour_match.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "gpu/image/compose.h"
#include "tests/gpu/image/deviation_of_one.h"
#include "tests/gpu/image/noise.h"

namespace navtalk {
namespace {

// Of middle levels, so that nothing is cut off.
Image muted_noise(unsigned seed, int width, int height) {
  Image image = noise(seed, width, height);
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(80 + value / 4);
  return image;
}

Image toned(const Image& image, double gain, double shift) {
  Image result = image;
  for (std::uint8_t& value : result.pixels)
    value = static_cast<std::uint8_t>(std::lround(value * gain + shift));
  return result;
}

int largest_difference(const Image& a, const Image& b) {
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  return largest;
}

// 255 inside, a seam of 128 around it, 0 outside.
Image ring(int size, int seam) {
  Image mask(size, size, 1);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const int edge = std::min({x, y, size - 1 - x, size - 1 - y});
      *mask.view().at(x, y) = edge >= 2 * seam ? 255 : edge >= seam ? 128 : 0;
    }
  return mask;
}

}  // namespace

TEST_CASE("a face in other tones gets those of the frame") {
  const Image frame = muted_noise(51, 60, 60);
  const auto [gain, shift] = GENERATE(std::pair(0.9, 22.0), std::pair(1.1, -20.0));
  Image face = toned(frame, gain, shift);
  CHECK(largest_difference(face, frame) > 5);
  match_colours(face.view(), frame.view(), ring(60, 8).view());
  CHECK(largest_difference(face, frame) <= 1);
}

TEST_CASE("what is far from the frame's tones is moved by the limits only") {
  const Image frame = muted_noise(52, 60, 60), mask = ring(60, 8);
  Image face = toned(frame, 1, 60);
  const Image before = face;
  match_colours(face.view(), frame.view(), mask.view());
  for (std::size_t i = 0; i < face.pixels.size(); ++i)
    REQUIRE(int{before.pixels[i]} - int{face.pixels[i]} == 32);
}

TEST_CASE("without a seam nothing is matched") {
  const Image frame = muted_noise(53, 40, 40);
  Image face = toned(frame, 1, 20);
  const Image before = face;
  Image mask(40, 40, 1);
  std::fill(mask.pixels.begin(), mask.pixels.end(), std::uint8_t{255});
  match_colours(face.view(), frame.view(), mask.view());
  CHECK(face == before);
  std::fill_n(mask.pixels.begin(), k_least_seam - 1, std::uint8_t{7});
  match_colours(face.view(), frame.view(), mask.view());
  CHECK(face == before);
  mask.pixels[k_least_seam - 1] = 7;
  match_colours(face.view(), frame.view(), mask.view());
  CHECK_FALSE(face == before);
}

TEST_CASE("a deviation of exactly one level is scaled, and one below it is not") {
  const int size = 64, seam = static_cast<int>(tests::k_deviation_of_one.size());
  Image frame = muted_noise(55, size, size);  // darker than the face by more than the limit
  for (std::uint8_t& value : frame.pixels) value = static_cast<std::uint8_t>(value - 80);
  Image mask(size, size, 1);
  for (int y = 0; y < size; ++y) std::fill_n(mask.view().row(y), size, y < seam ? 128 : 255);
  for (int base = 129; base <= 160; ++base) {
    INFO("about level " << base);
    Image face(size, size);
    for (int y = 0; y < size; ++y)
      std::fill_n(
          face.view().row(y), std::ptrdiff_t{3} * size,
          static_cast<std::uint8_t>(
              y < seam ? base + tests::k_deviation_of_one.at(static_cast<std::size_t>(y)) : 200));
    Image below = face;
    std::fill_n(below.view().row(0), 3, static_cast<std::uint8_t>(base + 1));  // a pixel less far
    match_colours(face.view(), frame.view(), mask.view());
    match_colours(below.view(), frame.view(), mask.view());
    const double mean = base + 1.0 / 3;
    CHECK(*face.view().at(5, size - 1) ==
          std::lround((200 - mean) * k_most_gain + mean - k_most_shift));
    CHECK(*below.view().at(5, size - 1) == 200 - std::lround(k_most_shift));
  }
}

TEST_CASE("a composed face whose colours are matched shows no step at the seam") {
  const Image frame = muted_noise(54, 256, 256), mask = ring(256, 20);
  const Image face = toned(frame, 1, 24);
  const Placement placement{{0, 0, 256, 256}, {0, 0, 256, 256}};
  Image plain = frame, matched = frame;
  compose(plain.view(), face.view(), placement, mask.view());
  compose(matched.view(), face.view(), placement, mask.view(), std::nullopt,
          {.match_colour = true});
  CHECK(largest_difference(plain, frame) == 24);
  CHECK(largest_difference(matched, frame) <= 1);
}

}  // namespace navtalk
