#include "gpu/image/pillow_resize.h"

#include <boost/crc.hpp>
#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

// tools/golden uses Pillow 13 on the same picture.
Image pattern(int width, int height, int channels) {
  Image image(width, height, channels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < channels; ++k)
        image.view().at(x, y)[k] =
            static_cast<std::uint8_t>(x * x * 7 + y * 13 + x * y * 3 + k * 91);
  return image;
}

}  // namespace

TEST_CASE("a picture is resized as Pillow 13 does it, bit for bit") {
  struct Row {
    int width, height, to_width, to_height, channels;
    PillowFilter filter;
    std::uint32_t crc;
  };
  const auto row = GENERATE(Row{37, 23, 64, 64, 3, PillowFilter::bilinear, 2600062656U},
                            Row{700, 611, 512, 512, 3, PillowFilter::bilinear, 1956662905U},
                            Row{512, 512, 333, 333, 1, PillowFilter::bicubic, 3601760620U},
                            Row{40, 40, 97, 61, 1, PillowFilter::bicubic, 561556929U});
  const Image source = pattern(row.width, row.height, row.channels);
  Image resized(row.to_width, row.to_height, row.channels);
  pillow_resize(source.view(), resized.view(), row.filter);
  boost::crc_32_type crc;
  crc.process_bytes(resized.pixels.data(), resized.pixels.size());
  CHECK(crc.checksum() == row.crc);
}

TEST_CASE("a picture of the same size stays as it is") {
  const Image source = pattern(31, 17, 3);
  Image same(31, 17);
  pillow_resize(source.view(), same.view(), PillowFilter::bicubic);
  CHECK(same == source);
}
