#include "core/media/encode/h264_stream.h"

#include <catch2/catch.hpp>

#include "core/base/error.h"

using namespace navtalk;

namespace {

I420Picture shaded_picture(int t, int width = 64, int height = 48) {
  I420Picture picture(width, height);
  for (std::size_t i = 0; i < picture.bytes.size(); ++i) {
    picture.bytes[i] =
        static_cast<std::uint8_t>(20 + (i * 3 + static_cast<std::size_t>(t) * 5) % 200);
  }
  return picture;
}

}  // namespace

TEST_CASE("each picture of a live stream comes out at once; keys come first and when asked for") {
  H264Stream stream({.width = 64, .height = 48});
  CHECK_THAT(stream.codec(), Catch::StartsWith("avc1.42"));
  CHECK(stream.codec().size() == 11);
  std::vector<bool> keys;
  for (int t = 0; t < 8; ++t) {
    const AccessUnit unit = stream.encode(shaded_picture(t), t == 5);
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
  CHECK_THROWS_AS(stream.encode(shaded_picture(0, 32, 32), false), Error);
}
