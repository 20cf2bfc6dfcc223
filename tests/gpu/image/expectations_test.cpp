// The operations against checksums of what OpenCV and Pillow made of the same pictures; see
// expectations.py, which wrote expectations.txt.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "gpu/image/compose.h"
#include "gpu/image/gaussian_blur.h"
#include "gpu/image/resize.h"
#include "tests/gpu/image/noise.h"

namespace navtalk {
namespace {

// CRC-32 as in zlib, bit by bit.
std::uint32_t checksum(const Image& image) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const std::uint8_t byte : image.pixels) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

Image resized(std::istream& line) {
  std::string interpolation, kind;
  int seed = 0, width = 0, height = 0, channels = 0, out_width = 0, out_height = 0;
  line >> interpolation >> kind >> seed >> width >> height >> channels >> out_width >> out_height;
  Image source = noise(seed, width, height, channels, kind);
  Image result(out_width, out_height, channels);
  resize(source.view(), result.view(),
         interpolation == "linear" ? Interpolation::linear : Interpolation::lanczos4);
  return result;
}

Image blurred(std::istream& line) {
  std::string kind;
  int seed = 0, width = 0, height = 0, channels = 0, size = 0;
  line >> kind >> seed >> width >> height >> channels >> size;
  Image source = noise(seed, width, height, channels, kind);
  Image result(width, height, channels);
  gaussian_blur(source.view(), result.view(), size);
  return result;
}

Image sharpened(std::istream& line) {
  std::string kind;
  int seed = 0, width = 0, height = 0;
  Unsharp unsharp;
  line >> kind >> seed >> width >> height >> unsharp.amount >> unsharp.sigma >> unsharp.threshold;
  Image source = noise(seed, width, height, 3, kind);
  Image result(width, height, 3);
  unsharp_mask(source.view(), result.view(), unsharp);
  return result;
}

Image composed(std::istream& line) {
  int seed = 0, width = 0, height = 0, sharpen = 0;
  Box box, crop;
  line >> seed >> width >> height;
  line >> box.x1 >> box.y1 >> box.x2 >> box.y2 >> crop.x1 >> crop.y1 >> crop.x2 >> crop.y2;
  line >> sharpen;
  Image frame = noise(3 * seed, width, height);
  Image face = noise(3 * seed + 1, 256, 256);
  Image mask = noise(3 * seed + 2, crop.width(), crop.height(), 1);
  compose(frame.view(), face.view(), {box, crop}, mask.view(), std::nullopt,
          {.unsharp = sharpen != 0 ? std::optional(Unsharp{}) : std::nullopt});
  return frame;
}

Image result_of(const std::string& operation, std::istream& line) {
  if (operation == "resize") return resized(line);
  if (operation == "blur") return blurred(line);
  if (operation == "unsharp") return sharpened(line);
  return composed(line);
}

// Compares every line of one operation; returns how many there were.
int compare_all(const std::string& wanted_operation) {
  std::ifstream file(NAVTALK_IMAGE_EXPECTATIONS);
  int lines = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string operation;
    line >> operation;
    if (operation != wanted_operation) continue;
    INFO(text);
    const std::uint32_t result = checksum(result_of(operation, line));
    std::uint32_t expected = 0;
    line >> std::hex >> expected;
    REQUIRE_FALSE(line.fail());
    CHECK(result == expected);
    ++lines;
  }
  return lines;
}

}  // namespace

TEST_CASE("resizing gives OpenCV's bytes") { CHECK(compare_all("resize") == 112); }

TEST_CASE("the Gaussian blur gives OpenCV's bytes") { CHECK(compare_all("blur") == 34); }

TEST_CASE("the unsharp mask gives the bytes of its definition in Python") {
  CHECK(compare_all("unsharp") == 8);
}

TEST_CASE("composing gives the bytes of MuseTalk's way through Pillow") {
  CHECK(compare_all("compose") == 43);
}

}  // namespace navtalk
