#include "gpu/image/warp.h"

#include <boost/crc.hpp>
#include <catch2/catch.hpp>

#include "gpu/model/pose_points.h"

using namespace navtalk;

TEST_CASE("the landmark net's view of a picture is warped as OpenCV 4.9 does it, bit for bit") {
  struct Row {
    int width, height;
    std::uint32_t crc;
  };
  const auto row = GENERATE(Row{160, 120, 2596177320U}, Row{101, 203, 344591799U});
  Image picture(row.width, row.height);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  const Image seen =
      warp_affine(picture.view(), input_of_view(pose_view(row.width, row.height)), 288, 384);
  boost::crc_32_type crc;
  crc.process_bytes(seen.pixels.data(), seen.pixels.size());
  CHECK(crc.checksum() == row.crc);
}
