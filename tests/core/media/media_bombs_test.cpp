// Small files that describe much memory and keep all other limits.
#include <array>
#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "core/media/decode/audio.h"
#include "core/media/decode/video_reader.h"
#include "core/media/image_file.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/wav.h"
#include "tests/core/memory_limit.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

constexpr std::size_t k_mib = 1 << 20;

std::string big_endian_text(std::size_t value, int size = 4) {
  std::string bytes;
  for (int i = size - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string png_chunk(const std::string& name, const std::string& data) {
  boost::crc_32_type sum;
  sum.process_bytes(name.data(), name.size());
  sum.process_bytes(data.data(), data.size());
  return big_endian_text(data.size()) + name + data + big_endian_text(sum.checksum());
}

// Zeros in zlib's format, in a 150th of their number: a literal, then copies of 258 bytes.
std::string deflated_zeros(std::size_t count) {
  std::string bytes = "\x78\x01";
  unsigned held = 0;
  int bits = 0;
  const auto put_bits = [&](unsigned value, int size) {  // the first bit is the lowest one
    held |= value << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>= 8) bytes += static_cast<char>(held);
  };
  put_bits(0b011, 3);       // the last block, fixed codes
  put_bits(0b00001100, 8);  // a zero
  for (std::size_t i = 0; i < (count - 1) / 258; ++i) put_bits(0b00000'10100011, 13);
  const std::size_t all = 1 + (count - 1) / 258 * 258;
  put_bits(0, 7);  // the end
  put_bits(0, 7);  // up to a whole byte
  const unsigned sum = static_cast<unsigned>(all % 65521) << 16 | 1U;
  return bytes + big_endian_text(sum);
}

const std::string k_signature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t k_side = 16;

std::string png_header() {
  return k_signature + png_chunk("IHDR", big_endian_text(k_side) + big_endian_text(k_side) +
                                             std::string("\x08\0\0\0\0", 5));
}

// Of grey pixels; a row more than there are, because of the length that zeros can have.
std::string png_pixels() { return deflated_zeros(k_side * (k_side + 1) + 258); }

std::string png_end() { return png_chunk("IEND", ""); }

std::string animated(const std::string& extra) {
  const auto frame = [](std::size_t number) {
    return png_chunk("fcTL", big_endian_text(number) + big_endian_text(k_side) +
                                 big_endian_text(k_side) + big_endian_text(0) + big_endian_text(0) +
                                 big_endian_text(1, 2) + big_endian_text(25, 2) +
                                 std::string(2, '\0'));
  };
  return png_header() + png_chunk("acTL", big_endian_text(2) + big_endian_text(0)) + extra +
         frame(0) + png_chunk("IDAT", png_pixels()) + frame(1) +
         png_chunk("fdAT", big_endian_text(2) + png_pixels()) + png_end();
}

std::string texts(std::size_t count, std::size_t size) {
  std::string chunks;
  const std::string packed = deflated_zeros(size);
  for (std::size_t i = 0; i < count; ++i)
    chunks += png_chunk("zTXt",
                        std::string(1, static_cast<char>('a' + i)) + std::string(2, '\0') + packed);
  return chunks;
}

// A JPEG's segment whose 2000 values have the same 30 KB, each under a name of its own.
std::string exif_segment(std::size_t first_name) {
  constexpr std::size_t k_names = 2000, k_values = 4000, k_kind = 5, k_value_size = 8;
  std::string entries;
  const std::size_t at = 8 + 2 + 12 * k_names + 4;
  for (std::size_t i = 0; i < k_names; ++i)
    entries += big_endian_text(first_name + i, 2) + big_endian_text(k_kind, 2) +
               big_endian_text(k_values) + big_endian_text(at);
  const std::string tiff = "MM" + big_endian_text(42, 2) + big_endian_text(8) +
                           big_endian_text(k_names, 2) + entries + big_endian_text(0) +
                           std::string(k_values * k_value_size, '\1');
  const std::string data = "Exif" + std::string(2, '\0') + tiff;
  return "\xFF\xE1" + big_endian_text(data.size() + 2, 2) + data;
}

int frames_of(const std::filesystem::path& path) {
  VideoReader reader = VideoReader::open(path);
  int frames = 0;
  while (reader.next()) ++frames;
  return frames;
}

}  // namespace

TEST_CASE("the texts and profiles of a picture take no memory") {
  const ScratchFolder folder;
  const auto is_read = [&](const char* name, int width) {
    return fits_into(48 * k_mib, [&] { return read_image(folder / name).width == width; });
  };
  put(folder / "plain.png", png_header() + png_chunk("IDAT", png_pixels()) + png_end());
  CHECK(is_read("plain.png", k_side));
  put(folder / "profile.png",
      png_header() + png_chunk("iCCP", "x" + std::string(2, '\0') + deflated_zeros(200 * k_mib)) +
          png_chunk("IDAT", png_pixels()) + png_end());
  CHECK(is_read("profile.png", k_side));
  put(folder / "texts.png",
      png_header() + texts(4, 60 * k_mib) + png_chunk("IDAT", png_pixels()) + png_end());
  CHECK(is_read("texts.png", k_side));
  std::string jpeg = content(NAVTALK_FIXTURES "/pictures/420.jpg");
  put(folder / "plain.jpg", jpeg);
  CHECK(is_read("plain.jpg", 35));
  for (const std::size_t name : {0x1000, 0x2000, 0x3000}) jpeg.insert(2, exif_segment(name));
  put(folder / "texts.jpg", jpeg);
  CHECK(is_read("texts.jpg", 35));
}

TEST_CASE("an animated picture is read without its texts") {
  const ScratchFolder folder;
  put(folder / "plain.apng", animated(""));
  put(folder / "texts.apng", animated(texts(3, 10'000)));
  CHECK(frames_of(folder / "plain.apng") == 2);
  CHECK(frames_of(folder / "texts.apng") == 2);
}

TEST_CASE("sound takes the memory of its samples at the rate that is asked for") {
  const ScratchFolder folder;
  // Ten minutes of two channels: 230 MB as a file with holes, and as samples of its own rate.
  constexpr int k_rate = 96'000, k_seconds = 600;
  constexpr std::uint32_t k_bytes = k_rate * 4 * k_seconds;
  std::string header = wav_bytes({.rate_hz = k_rate, .channels = 2}, "");
  for (const auto& [at, length] : {std::pair(4, k_bytes + 36), std::pair(40, k_bytes)})
    for (int i = 0; i < 4; ++i)
      header[static_cast<std::size_t>(at + i)] = static_cast<char>(length >> (8 * i));
  put(folder / "long.wav", header);
  std::filesystem::resize_file(folder / "long.wav", header.size() + k_bytes);
  CHECK(fits_into(96 * k_mib, [&] {
    return decode_audio(folder / "long.wav", {}, {}, 16'000).samples.size() == 16'000 * k_seconds;
  }));
}

TEST_CASE("sound that is resampled while it is decoded is what resampling all of it gives") {
  const ScratchFolder folder;
  for (const int rate : {8'000, 11'025, 16'000, 22'050, 44'100, 48'000, 96'000}) {
    for (const double seconds : {0.001, 0.3, 2.7}) {
      CAPTURE(rate, seconds);
      put_tone(folder / "tone.wav", seconds, {.rate_hz = rate, .channels = 2}, 997);
      const Audio whole = resample(decode_audio(folder / "tone.wav"), 16'000);
      const Audio streamed = decode_audio(folder / "tone.wav", {}, {}, 16'000);
      CHECK(streamed.rate_hz == 16'000);
      CHECK(streamed.samples == whole.samples);
    }
  }
}

TEST_CASE("sound of more channels or a higher rate than a recording has is refused") {
  const ScratchFolder folder;
  put_tone(folder / "many.wav", 0.1, {.channels = 16});
  CHECK(decode_audio(folder / "many.wav").samples.size() == 1'600);
  put_tone(folder / "many.wav", 0.1, {.channels = 17});
  expect_error(Code::invalid, {"many.wav", "17 channels", "at most 16"},
               [&] { decode_audio(folder / "many.wav"); });
  put_tone(folder / "fast.wav", 0.1, {.rate_hz = 384'001});
  expect_error(Code::invalid, {"fast.wav", "384001 Hz"},
               [&] { decode_audio(folder / "fast.wav"); });
}
