#include "core/media/decode/picture/exif_orientation.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

using namespace navtalk::media;

namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + "sum?";
}

Orientation of(const std::string& chunks) {
  const std::string file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", "a header") + chunks;
  return png_orientation({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

// One directory with one entry: a turn to the right.
const std::string k_big("MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 22);
const std::string k_little("II\x2A\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22);
const Orientation k_right{.transpose = true, .flip_x = true};

}  // namespace

TEST_CASE("a PNG is turned as its eXIf chunk says, in either byte order") {
  CHECK(of(chunk("eXIf", k_big)) == k_right);
  CHECK(of(chunk("eXIf", k_little)) == k_right);
  CHECK(of(chunk("tEXt", "hello") + chunk("eXIf", k_big) + chunk("IDAT", "")) == k_right);
}

TEST_CASE("an eXIf chunk that comes late, is cut or says nonsense turns nothing") {
  CHECK(of("") == Orientation{});
  CHECK(of(chunk("IDAT", "") + chunk("eXIf", k_big)) == Orientation{});
  for (std::size_t size = 0; size < k_big.size(); ++size) {
    CAPTURE(size);
    CHECK(of(chunk("eXIf", k_big.substr(0, size))) == Orientation{});
    CHECK(of(chunk("eXIf", k_big).substr(0, size)) == Orientation{});
  }
  // Offset of the directory, tag, type, value.
  for (const std::size_t at : {4, 10, 12, 18}) {
    CAPTURE(at);
    std::string nonsense = k_big;
    nonsense.replace(at, 2, "\xFF\xFF");
    CHECK(of(chunk("eXIf", nonsense)) == Orientation{});
  }
}
