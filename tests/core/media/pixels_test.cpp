#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/media/decode/orientation.h"
#include "core/media/pixels.h"

using namespace navtalk;
using namespace navtalk::media;

namespace {

constexpr double k_red = 0.2126, k_green = 0.7152, k_blue = 0.0722;  // BT.709

FramePtr frame_420(int width, int height) {
  FramePtr frame = make_frame();
  frame->format = AV_PIX_FMT_YUV420P;
  frame->width = width;
  frame->height = height;
  REQUIRE(av_frame_get_buffer(frame.get(), 0) >= 0);
  return frame;
}

Image gradients(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      pixel[0] = static_cast<std::uint8_t>(128 + 100 * std::sin(x * 0.05));
      pixel[1] = static_cast<std::uint8_t>(128 + 100 * std::sin(y * 0.043));
      pixel[2] = static_cast<std::uint8_t>(128 + 100 * std::sin((x + y) * 0.037));
    }
  }
  return image;
}

double luma(const std::uint8_t* bgr) { return k_red * bgr[2] + k_green * bgr[1] + k_blue * bgr[0]; }

}  // namespace

TEST_CASE("BGR becomes BT.709 limited range within one level of the formula") {
  const Image image = gradients(320, 182);
  const FramePtr frame = frame_420(320, 182);
  BgrToYuv420(320, 182).convert(image.view(), *frame);
  double worst_luma = 0, worst_chroma = 0;
  for (int y = 0; y < 182; ++y) {
    for (int x = 0; x < 320; ++x) {
      const double exact = 16 + 219.0 / 255 * luma(image.view().at(x, y));
      worst_luma =
          std::max(worst_luma, std::abs(frame->data[0][y * frame->linesize[0] + x] - exact));
    }
  }
  // Chroma is sited at the left of each pair: weights 1 2 1 across, 1 1 down.
  for (int y = 0; y < 91; ++y) {
    for (int x = 1; x < 160; ++x) {
      double blue = 0, light = 0;
      for (int dy : {0, 1}) {
        for (int dx : {-1, 0, 1}) {
          const std::uint8_t* pixel = image.view().at(std::min(2 * x + dx, 319), 2 * y + dy);
          blue += (dx == 0 ? 0.25 : 0.125) * pixel[0];
          light += (dx == 0 ? 0.25 : 0.125) * luma(pixel);
        }
      }
      const double exact = 128 + 224.0 / 255 * (blue - light) / (2 * (1 - k_blue));
      worst_chroma =
          std::max(worst_chroma, std::abs(frame->data[1][y * frame->linesize[1] + x] - exact));
    }
  }
  CHECK(worst_luma < 1);
  CHECK(worst_chroma < 1);
}

TEST_CASE("BT.601, BT.709, limited and full range are each turned back by their own formula") {
  const auto [space, red, blue] = GENERATE(table<AVColorSpace, double, double>({
      {AVCOL_SPC_BT709, 0.2126, 0.0722},
      {AVCOL_SPC_SMPTE170M, 0.299, 0.114},
      {AVCOL_SPC_UNSPECIFIED, 0.299, 0.114},
      {AVCOL_SPC_BT2020_NCL, 0.2627, 0.0593},
  }));
  const bool full = GENERATE(false, true);
  CAPTURE(space, full);
  const FramePtr frame = frame_420(64, 64);
  frame->colorspace = space;
  frame->color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  std::fill_n(frame->data[0], frame->linesize[0] * 64, std::uint8_t{120});
  std::fill_n(frame->data[1], frame->linesize[1] * 32, std::uint8_t{110});
  std::fill_n(frame->data[2], frame->linesize[2] * 32, std::uint8_t{150});
  Image image(64, 64);
  FrameToBgr().convert(*frame, image.view());

  const double y = full ? 120 : (120 - 16) * 255.0 / 219;
  const double scale = full ? 1 : 255.0 / 224;
  const double r = y + 2 * (1 - red) * (150 - 128) * scale;
  const double b = y + 2 * (1 - blue) * (110 - 128) * scale;
  const double g = (y - red * r - blue * b) / (1 - red - blue);
  const std::uint8_t* pixel = image.view().at(31, 17);
  CHECK(std::abs(pixel[0] - b) <= 1);
  CHECK(std::abs(pixel[1] - g) <= 1);
  CHECK(std::abs(pixel[2] - r) <= 1);
}

TEST_CASE("no byte behind a picture is read") {
  const auto [width, height] =
      GENERATE(table<int, int>({{64, 48}, {33, 17}, {1, 1}, {2, 2}, {704, 3}, {1365, 2}}));
  CAPTURE(width, height);
  const Image image = gradients(width, height);
  const std::size_t page = 4096, size = image.pixels.size();
  const std::size_t room = (size + page - 1) / page * page;
  // The picture ends where memory that may not be touched begins.
  auto* memory = static_cast<std::uint8_t*>(
      ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(::mprotect(memory + room, page, PROT_NONE) == 0);
  std::uint8_t* data = memory + room - size;
  std::copy(image.pixels.begin(), image.pixels.end(), data);

  const FramePtr frame = frame_420(width + width % 2, height + height % 2);
  BgrToYuv420(width, height).convert({data, width, height, 3, std::ptrdiff_t{3} * width}, *frame);
  const double exact = 16 + 219.0 / 255 * luma(image.view().at(width - 1, height - 1));
  const auto* last_row = frame->data[0] + (frame->height - 1) * frame->linesize[0];
  CHECK(std::abs(last_row[frame->width - 1] - exact) < 1);
  ::munmap(memory, room + page);
}

TEST_CASE("a display matrix turns and mirrors as it says") {
  constexpr std::int32_t k_one = 1 << 16;
  using Matrix = std::array<std::int32_t, 9>;
  const auto of = [](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    const Matrix matrix{a, b, 0, c, d, 0, 0, 0, 1 << 30};
    return orientation(matrix.data());
  };
  // 1 2 3
  // 4 5 6
  const Image stored = [] {
    Image image(3, 2, 1);
    image.pixels = {1, 2, 3, 4, 5, 6};
    return image;
  }();
  using Pixels = std::vector<std::uint8_t>;
  CHECK(orientation(nullptr) == Orientation{});
  CHECK(of(k_one, 0, 0, k_one) == Orientation{});
  CHECK(upright(stored, of(-k_one, 0, 0, -k_one)).pixels == Pixels{6, 5, 4, 3, 2, 1});
  CHECK(upright(stored, of(-k_one, 0, 0, k_one)).pixels == Pixels{3, 2, 1, 6, 5, 4});
  // A quarter turn clockwise, as phones held upright record.
  const Image clockwise = upright(stored, of(0, k_one, -k_one, 0));
  CHECK(clockwise.width == 2);
  CHECK(clockwise.pixels == Pixels{4, 1, 5, 2, 6, 3});
  CHECK(upright(stored, of(0, -k_one, k_one, 0)).pixels == Pixels{3, 6, 2, 5, 1, 4});
  CHECK(upright(stored, of(0, k_one, k_one, 0)).pixels == Pixels{1, 4, 2, 5, 3, 6});
}
