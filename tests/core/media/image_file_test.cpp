#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>

#include "core/checkpoint/checkpoint.h"
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

// Small pictures of every kind, and what OpenCV made of them (tests/fixtures/make_pictures.py).
const std::filesystem::path k_pictures = NAVTALK_FIXTURES "/pictures";

// How far an image is from the expected one, over all colours of all pixels.
struct Distance {
  int largest = 0;
  double mean = 0;
};

Distance distance(const Image& image, std::span<const std::uint8_t> expected) {
  REQUIRE(image.pixels.size() == expected.size());
  Distance found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int apart = std::abs(image.pixels[i] - expected[i]);
    found.largest = std::max(found.largest, apart);
    found.mean += apart;
  }
  found.mean /= static_cast<double>(expected.size());
  return found;
}

}  // namespace

TEST_CASE("pictures of every kind are read as OpenCV reads them") {
  const Checkpoint expected = Checkpoint::open(k_pictures / "expected.safetensors");
  REQUIRE(expected.tensors().size() == 43);
  for (const TensorInfo& tensor : expected.tensors()) {
    CAPTURE(tensor.name);
    const Image image = read_image(k_pictures / tensor.name);
    REQUIRE(Shape{image.height, image.width, 3} == tensor.shape);
    const std::span<const std::byte> bytes = *expected.mapped(tensor.name);
    const Distance found =
        distance(image, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    // Lossy kinds leave the last bit of a transform open; ink on paper, how black a mixture is.
    const bool lossy = tensor.name.ends_with(".jpg") || tensor.name == "lossy.webp";
    const bool ink = tensor.name == "cmyk.jpg";
    CHECK(found.largest <= (lossy ? 3 : 0));
    CHECK(found.mean <= (ink ? 2.1 : lossy ? 0.2 : 0));
  }
}

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

TEST_CASE("a JPEG comes near every pixel, and keeps single coloured pixels apart") {
  const ScratchFolder folder;
  Image image(37, 21);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      pixel[0] = static_cast<std::uint8_t>(6 * x);
      pixel[1] = static_cast<std::uint8_t>(12 * y);
      pixel[2] = static_cast<std::uint8_t>(255 - 6 * x);
    }
  write_jpeg(folder / "a.jpg", image.view());
  const Image read = read_image(folder / "a.jpg");
  REQUIRE(read.width == 37);
  REQUIRE(read.height == 21);
  int largest = 0;
  for (std::size_t i = 0; i < read.pixels.size(); ++i)
    largest = std::max(largest, std::abs(int{read.pixels[i]} - int{image.pixels[i]}));
  CHECK(largest <= 6);
  expect_error(Code::failed, {"missing/a.jpg", "No such file or directory"},
               [&] { write_jpeg(folder / "missing/a.jpg", image.view()); });
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
  const std::string jpeg = content(k_pictures / "420.jpg");
  const std::string thumbnail = "\xFF\xE1" + std::string(1, '\0') + "\x06\x61\x62\xFF\xD9";
  for (const std::string& whole : {jpeg, jpeg.substr(0, 2) + thumbnail + jpeg.substr(2)}) {
    put(folder / "a.jpg", whole + "trailing bytes");
    CHECK(read_image(folder / "a.jpg").width == 35);
    for (std::size_t size : {whole.size() - 2, whole.size() / 2}) {
      put(folder / "cut.jpg", whole.substr(0, size));
      expect_error(Code::invalid, {"cut.jpg is cut off"}, [&] { read_image(folder / "cut.jpg"); });
    }
  }
}

TEST_CASE("a picture that is damaged, cut or too large is refused with its name and the reason") {
  const ScratchFolder folder;
  std::string bytes = content(k_pictures / "rgb.png");
  bytes[bytes.size() / 2] ^= 0x55;
  put(folder / "flipped.png", bytes);
  expect_error(Code::invalid, {"flipped.png cannot be read", "CRC mismatch"},
               [&] { read_image(folder / "flipped.png"); });
  for (const std::string name : {"rgb.bmp", "lossy.webp", "lossless.webp"}) {
    CAPTURE(name);
    put(folder / name, content(k_pictures / name).substr(0, content(k_pictures / name).size() / 2));
    expect_error(Code::invalid, {name + " cannot be read"}, [&] { read_image(folder / name); });
  }
  // Sixty thousand pixels a side, says its header, whose checksum is right.
  bytes = content(k_pictures / "rgb.png");
  const std::string size("\0\0\xEA\x60\0\0\xEA\x60\x08\x02\0\0\0\x0F\xB0\xE2\x15", 17);
  put(folder / "huge.png", bytes.replace(16, size.size(), size));
  expect_error(Code::invalid, {"huge.png cannot be read", "Invalid image size"},
               [&] { read_image(folder / "huge.png"); });
}

TEST_CASE("a PNG that cannot be written leaves nothing and says why") {
  const ScratchFolder folder;
  expect_error(Code::failed, {"missing/a.png", "No such file or directory"},
               [&] { write_png(folder / "missing/a.png", noise(4, 4).view()); });
  expect_error(Code::failed, {"/dev/full", "No space left"},
               [&] { write_png("/dev/full", noise(64, 64).view()); });
}

TEST_CASE("a picture is not written through a link") {
  const ScratchFolder folder;
  put(folder / "precious", "data");
  std::filesystem::create_symlink(folder / "precious", folder / "a.png");
  expect_error(Code::failed, {"a.png cannot be written"},
               [&] { write_png(folder / "a.png", Image(2, 2).view()); });
  CHECK(content(folder / "precious") == "data");
}
