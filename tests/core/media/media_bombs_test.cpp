// Small files that describe much memory and keep all other limits.
#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/media/decode/audio.h"
#include "core/media/decode/byte_source.h"
#include "core/media/decode/indexed_video.h"
#include "core/media/decode/mp4_index.h"
#include "core/media/decode/picture/webp_codes.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/video_writer.h"
#include "core/media/image_file.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/packed_bytes.h"
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

// A lossless WebP up to its groups of codes, of which one pixel names the last one.
std::string webp_of_groups(std::size_t groups) {
  constexpr std::size_t k_pixels = 256;
  LowBitText out;
  for (const auto& [value, size] : {std::pair<std::size_t, std::size_t>{0x2F, 8},
                                    {k_pixels - 1, 14},
                                    {k_pixels - 1, 14},
                                    {0, 4},
                                    {0, 2},  // no transform, no cache
                                    {1, 1},
                                    {0, 3},  // squares of 4x4
                                    {0, 1}})
    out.put(value, size);
  for (const std::size_t last : {(groups - 1) % 256, (groups - 1) / 256}) {  // green, red
    out.put(0b111, 3);
    out.put(0, 8);
    out.put(last, 8);
  }
  for (int i = 0; i < 3; ++i) {
    out.put(0b101, 3);
    out.put(0, 8);
  }
  for (std::size_t square = 0; square < k_pixels * k_pixels / 16; ++square)
    out.put(square == 77 ? 0b11 : 0, 2);
  out.bytes += std::string(4096 - out.bytes.size(), '\0');
  return "RIFF" + little_endian_text(out.bytes.size() + 12, 4) + "WEBPVP8L" +
         little_endian_text(out.bytes.size(), 4) + out.bytes;
}

int code_groups(const std::string& file) {
  return media::webp_code_groups({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

}  // namespace

TEST_CASE("the groups of codes of a lossless WebP are counted before it is decoded") {
  for (const int groups : {2, 256, 257, 4096, 65'536})
    CHECK(code_groups(webp_of_groups(static_cast<std::size_t>(groups))) == groups);
  CHECK(code_groups(content(NAVTALK_FIXTURES "/pictures/lossless.webp")) == 1);
  CHECK(code_groups(content(NAVTALK_FIXTURES "/pictures/lossy.webp")) == 0);
  const ScratchFolder folder;
  put(folder / "groups.webp", webp_of_groups(4097));
  expect_error(Code::invalid, {"groups.webp", "4097 groups of codes: at most 4096"},
               [&] { read_image(folder / "groups.webp"); });
  put(folder / "cut.webp", webp_of_groups(4097).substr(0, 100));
  expect_error(Code::invalid, {"cut.webp", "broken"}, [&] { read_image(folder / "cut.webp"); });
}

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
  const auto decodes = [&] {
    return decode_audio(folder / "long.wav", {}, {}, 16'000).samples.size() == 16'000 * k_seconds;
  };
  // AddressSanitizer keeps hundreds of megabytes of freed packets, more than this bound.
  CHECK((k_limits_memory ? fits_into(96 * k_mib, decodes) : decodes()));
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

TEST_CASE("an index that names more samples than a recording has is refused") {
  const ScratchFolder folder;
  VideoWriter writer({.path = folder / "clip.mp4", .width = 64, .height = 48});
  for (int t = 0; t < 25; ++t) writer.write(Image(64, 48).view());
  writer.finish();
  std::string clip = content(folder / "clip.mp4");
  const std::size_t table = clip.find("stsz") + 8;
  clip.replace(table, 8, big_endian_text(1) + big_endian_text(8'000'000));
  clip.replace(clip.find("stsc") + 16, 4, big_endian_text(8'000'000));  // all in one chunk
  put(folder / "bomb.mp4", clip);
  CHECK(fits_into(48 * k_mib, [&] {
    const auto refused = [](const std::function<void()>& open) {
      const std::string why = error_of(open).message();
      return why.find("index names more than 3600000 samples") != std::string::npos;
    };
    return refused([&] { VideoReader::open(folder / "bomb.mp4"); }) &&
           refused([&] { IndexedVideo::open(folder / "bomb.mp4"); });
  }));
}

TEST_CASE("the samples of an index are counted before they are listed") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& file, double max_duration_s = 3600) {
    put(folder / "file.mp4", file);
    media::ByteSource source(folder / "file.mp4", {});
    return !media::why_index_too_large(*source.io(), {.max_duration_s = max_duration_s}).empty();
  };
  const auto box = [](const std::string& name, const std::string& data) {
    return big_endian_text(data.size() + 8) + name + data;
  };
  const auto sizes = [&](std::size_t each, std::size_t count) {
    return box("stsz", big_endian_text(0) + big_endian_text(each) + big_endian_text(count));
  };
  const auto times = [&](std::size_t duration) {
    return box("stts", big_endian_text(0) + big_endian_text(1) + big_endian_text(9) +
                           big_endian_text(duration));
  };
  const auto handler = [&](const char* kind) { return box("hdlr", std::string(8, '\0') + kind); };
  const auto edits = [&](std::size_t count) {
    return box("elst", big_endian_text(0) + big_endian_text(count));
  };
  const auto movie = [&](const std::string& track) {
    return box("ftyp", "isom") + box("moov", box("trak", track));
  };
  const std::size_t hours = 100'000'000;
  CHECK_FALSE(refused(movie(handler("vide") + times(1) + sizes(0, 1'000'000))));
  CHECK(refused(movie(handler("vide") + times(1) + sizes(0, hours))));
  CHECK(refused(movie(handler("vide") + times(1) + sizes(4, hours))));
  CHECK(refused(movie(edits(9) + sizes(0, 1'000'000))));
  // Numbers whose product has no room.
  const std::size_t half = std::size_t{1} << 31;
  CHECK(refused(
      movie(sizes(0, 5'000'000) + box("free", sizes(1, half - 5'000'000) + edits(2 * half - 1)))));
  CHECK(refused(movie(sizes(0, 1'000'000)), 60));
  // PCM, and what only looks like it.
  CHECK_FALSE(refused(movie(handler("soun") + times(1) + sizes(4, hours))));
  CHECK(refused(movie(handler("soun") + times(1) + sizes(0, hours))));
  CHECK(refused(movie(handler("soun") + times(1024) + sizes(4, hours))));
  CHECK(refused(movie(handler("soun") + times(1) + times(2) + sizes(4, hours))));
  CHECK(refused(movie(handler("soun") + handler("vide") + times(1) + sizes(4, hours))));
  // Where FFmpeg finds it, too.
  const std::string run = box("trun", big_endian_text(0) + big_endian_text(hours));
  CHECK(refused(movie("") + box("mdat", "data") + box("moof", box("traf", run))));
  CHECK(refused(movie("") + box("free", box("hoov", sizes(0, hours)))));
  CHECK(refused(movie(box("stsd", std::string(70'000, 'x') + sizes(0, hours)))));
  CHECK(refused(movie("") + sizes(0, hours)));
  CHECK(refused(movie(box("cmov", "packed"))));
  // A sample's data are not read.
  CHECK_FALSE(refused(movie("") + box("mdat", run)));
}
