#include <catch2/catch.hpp>
#include <opencv2/imgcodecs.hpp>

#include "core/media/image_file.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

Image noise(int width, int height, int channels = 3) {
  Image image(width, height, channels);
  std::uint32_t state = 1;
  for (std::uint8_t& value : image.pixels) {
    state = state * 1664525 + 1013904223;
    value = static_cast<std::uint8_t>(state >> 24);
  }
  return image;
}

}  // namespace

TEST_CASE("a PNG keeps every pixel") {
  const ScratchFolder folder;
  const Image image = noise(33, 17);
  write_png(folder / "a\rb -.png", image.view());
  CHECK(read_image(folder / "a\rb -.png") == image);
  // A view with a stride of its own.
  const Box box{3, 2, 20, 11};
  write_png(folder / "part.png", image.view().crop(box));
  const Image part = read_image(folder / "part.png");
  REQUIRE(part.width == 17);
  REQUIRE(part.height == 9);
  CHECK(std::equal(part.view().at(0, 8), part.view().at(0, 8) + 17 * 3, image.view().at(3, 10)));
}

TEST_CASE("a grey PNG is read as BGR") {
  const ScratchFolder folder;
  const Image mask = noise(8, 8, 1);
  write_png(folder / "mask.png", mask.view());
  const Image image = read_image(folder / "mask.png");
  REQUIRE(image.channels == 3);
  CHECK(*image.view().at(5, 4) == *mask.view().at(5, 4));
}

TEST_CASE("what is not a picture is refused by name") {
  const ScratchFolder folder;
  expect_error(Code::not_found, {"no.png"}, [&] { read_image(folder / "no.png"); });
  expect_error(Code::invalid, {"is a directory"}, [&] { read_image(folder.path()); });
  put(folder / "empty.png", "");
  expect_error(Code::invalid, {"empty.png is empty"}, [&] { read_image(folder / "empty.png"); });
  put(folder / "text.png", "not a picture");
  expect_error(Code::invalid, {"text.png is not a picture"},
               [&] { read_image(folder / "text.png"); });
  write_png(folder / "whole.png", noise(64, 64).view());
  const std::string whole = content(folder / "whole.png");
  for (std::size_t size : {std::size_t{10}, std::size_t{40}, whole.size() / 2, whole.size() - 20}) {
    CAPTURE(size);
    put(folder / "cut.png", whole.substr(0, size));
    expect_error(Code::invalid, {"cut.png"}, [&] { read_image(folder / "cut.png"); });
  }
}

TEST_CASE("a JPEG is read, and refused when it was cut, a thumbnail inside or not") {
  const ScratchFolder folder;
  const cv::Mat grey(64, 64, CV_8UC3, cv::Scalar(10, 20, 30));
  std::vector<std::uint8_t> bytes;
  REQUIRE(cv::imencode(".jpg", grey, bytes));
  const std::string jpeg(bytes.begin(), bytes.end());
  const std::string thumbnail = "\xFF\xE1" + std::string(1, '\0') + "\x06\x61\x62\xFF\xD9";
  for (const std::string& whole : {jpeg, jpeg.substr(0, 2) + thumbnail + jpeg.substr(2)}) {
    put(folder / "a.jpg", whole + "trailing bytes");
    CHECK(read_image(folder / "a.jpg").width == 64);
    for (std::size_t size : {whole.size() - 2, whole.size() / 2}) {
      put(folder / "cut.jpg", whole.substr(0, size));
      expect_error(Code::invalid, {"cut.jpg is cut off"}, [&] { read_image(folder / "cut.jpg"); });
    }
  }
}

TEST_CASE("a PNG that cannot be written leaves nothing and says why") {
  const ScratchFolder folder;
  expect_error(Code::failed, {"missing/a.png", "No such file or directory"},
               [&] { write_png(folder / "missing/a.png", noise(4, 4).view()); });
  expect_error(Code::failed, {"/dev/full", "No space left"},
               [&] { write_png("/dev/full", noise(64, 64).view()); });
}
