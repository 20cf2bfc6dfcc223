#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "gpu/image/color.h"
#include "tests/gpu/image/noise.h"

namespace navtalk {
namespace {

// BT.709, limited range, in real numbers.
struct Yuv {
  double y, u, v;
};
Yuv exact(double b, double g, double r) {
  const double luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return {16 + 219 * luma / 255, 128 + 224 * (b - luma) / 1.8556 / 255,
          128 + 224 * (r - luma) / 1.5748 / 255};
}

// The worst distance of an I420 picture from the definition.
double distance(const Image& bgr, const std::vector<std::uint8_t>& i420) {
  const int w = bgr.width, h = bgr.height;
  double worst = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const std::uint8_t* p = bgr.view().at(x, y);
      worst = std::max(worst, std::abs(exact(p[0], p[1], p[2]).y - i420[y * w + x]));
    }
  for (int y = 0; y < h / 2; ++y)
    for (int x = 0; x < w / 2; ++x) {
      double mean[3] = {};
      for (int row = 2 * y; row < 2 * y + 2; ++row)
        for (int column = 2 * x; column < 2 * x + 2; ++column)
          for (int c = 0; c < 3; ++c) mean[c] += bgr.view().at(column, row)[c] / 4.0;
      const Yuv yuv = exact(mean[0], mean[1], mean[2]);
      worst = std::max(worst, std::abs(yuv.u - i420[w * h + y * w / 2 + x]));
      worst = std::max(worst, std::abs(yuv.v - i420[w * h * 5 / 4 + y * w / 2 + x]));
    }
  return worst;
}

}  // namespace

TEST_CASE("BGR to I420 is BT.709 limited range with the mean chroma of 2x2 pixels") {
  const auto [width, height] =
      GENERATE(std::pair{2, 2}, std::pair{30, 4}, std::pair{66, 34}, std::pair{510, 6});
  const char* kind = GENERATE("noise", "extreme");
  const Image bgr = noise(21, width, height, 3, kind);
  std::vector<std::uint8_t> i420(yuv420_bytes(width, height));
  bgr_to_i420(bgr.view(), i420.data());
  CHECK(distance(bgr, i420) < 0.51);
}

TEST_CASE("grey has no colour, black is 16 and white 235") {
  const int level = GENERATE(0, 1, 127, 255);
  Image grey(4, 2);
  std::fill(grey.pixels.begin(), grey.pixels.end(), static_cast<std::uint8_t>(level));
  std::vector<std::uint8_t> i420(yuv420_bytes(4, 2));
  bgr_to_i420(grey.view(), i420.data());
  CHECK(i420[0] == std::lround(16 + 219 * level / 255.0));
  for (std::size_t i = 8; i < i420.size(); ++i) CHECK(i420[i] == 128);
  Image back(4, 2);
  i420_to_bgr(i420.data(), back.view());
  CHECK(std::abs(back.pixels[0] - level) <= 1);
}

TEST_CASE("NV12 is I420 with U and V interleaved") {
  constexpr int w = 46, h = 10;
  const Image bgr = noise(22, w, h);
  std::vector<std::uint8_t> i420(yuv420_bytes(w, h)), nv12(i420.size());
  bgr_to_i420(bgr.view(), i420.data());
  bgr_to_nv12(bgr.view(), nv12.data());
  CHECK(std::equal(nv12.begin(), nv12.begin() + w * h, i420.begin()));
  for (int i = 0; i < w * h / 4; ++i) {
    REQUIRE(nv12[w * h + 2 * i] == i420[w * h + i]);
    REQUIRE(nv12[w * h + 2 * i + 1] == i420[w * h * 5 / 4 + i]);
  }
  Image from_i420(w, h), from_nv12(w, h);
  i420_to_bgr(i420.data(), from_i420.view());
  nv12_to_bgr(nv12.data(), from_nv12.view());
  CHECK(from_i420 == from_nv12);
}

TEST_CASE("I420 to BGR inverts the definition and clamps what no colour has") {
  constexpr int w = 34, h = 18;
  const Image bytes = noise(23, w, h * 3 / 2, 1);
  Image bgr(w, h);
  i420_to_bgr(bytes.pixels.data(), bgr.view());
  double worst = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const int chroma = y / 2 * (w / 2) + x / 2;
      const double luma = (bytes.pixels[y * w + x] - 16) * 255.0 / 219;
      const double b = luma + (bytes.pixels[w * h + chroma] - 128) * 255.0 / 224 * 1.8556;
      const double r = luma + (bytes.pixels[w * h * 5 / 4 + chroma] - 128) * 255.0 / 224 * 1.5748;
      const double g = (luma - 0.2126 * r - 0.0722 * b) / 0.7152;
      const std::uint8_t* p = bgr.view().at(x, y);
      worst = std::max(worst, std::abs(std::clamp(b, 0.0, 255.0) - p[0]));
      worst = std::max(worst, std::abs(std::clamp(g, 0.0, 255.0) - p[1]));
      worst = std::max(worst, std::abs(std::clamp(r, 0.0, 255.0) - p[2]));
    }
  CHECK(worst < 0.51);
}

TEST_CASE("the pictures of a colour batch stand one after another") {
  constexpr int count = 2, w = 6, h = 4;
  Image both = noise(24, w, h * count);
  std::vector<std::uint8_t> batch(count * yuv420_bytes(w, h)), one(yuv420_bytes(w, h));
  bgr_to_i420(dense_batch(both.pixels.data(), count, w, h), batch.data());
  bgr_to_i420(both.view().crop({0, h, w, 2 * h}), one.data());
  CHECK(std::equal(one.begin(), one.end(), batch.begin() + yuv420_bytes(w, h)));
}

}  // namespace navtalk
