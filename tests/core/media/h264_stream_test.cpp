#include "core/media/encode/h264_stream.h"

#include <catch2/catch.hpp>

#include "core/base/error.h"

using namespace navtalk;

namespace {

Image shaded_picture(int t, int width = 64, int height = 48) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      pixel[0] = static_cast<std::uint8_t>(x * 3);
      pixel[1] = static_cast<std::uint8_t>(y * 4);
      pixel[2] = static_cast<std::uint8_t>(100 + t * 5);
    }
  }
  return image;
}

}  // namespace

TEST_CASE("each picture of a live stream comes out at once; keys come first and when asked for") {
  H264Stream stream({.width = 64, .height = 48});
  CHECK_THAT(stream.codec(), Catch::StartsWith("avc1.42"));
  CHECK(stream.codec().size() == 11);
  std::vector<bool> keys;
  for (int t = 0; t < 8; ++t) {
    const AccessUnit unit = stream.encode(shaded_picture(t).view(), t == 5);
    REQUIRE(unit.bytes.size() > 4);
    keys.push_back(unit.key);
    // A key frame begins with the sequence's parameters: whoever joins there can decode.
    const std::vector<std::uint8_t> start(unit.bytes.begin(), unit.bytes.begin() + 5);
    CHECK((start == std::vector<std::uint8_t>{0, 0, 0, 1, 0x67}) == unit.key);
  }
  CHECK(keys == std::vector<bool>{true, false, false, false, false, true, false, false});
}

TEST_CASE("a live stream refuses sizes that it cannot code, and pictures of another size") {
  for (const auto& [width, height] : {std::pair{0, 48}, {63, 48}, {64, 47}, {8, 48}, {5000, 48}}) {
    CHECK_THROWS_AS(H264Stream({.width = width, .height = height}), Error);
  }
  H264Stream stream({.width = 64, .height = 48});
  CHECK_THROWS_AS(stream.encode(shaded_picture(0, 32, 32).view(), false), Error);
}
