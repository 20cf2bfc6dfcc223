#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "core/media/decode/audio.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/sound_file.h"
#include "core/media/encode/video_writer.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/wav.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

void write_wav(const std::filesystem::path& file, int rate_hz, const std::vector<float>& sound) {
  std::vector<std::int16_t> samples;
  for (const float value : sound)
    samples.push_back(static_cast<std::int16_t>(std::lround(32767 * value)));
  put(file, wav_bytes({.rate_hz = rate_hz}, sample_bytes(samples)));
}

// Skin on blue, with a dark mouth that opens.
Image face_like(int size, int t) {
  Image image(size, size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      const bool mouth = std::abs(x - size / 2) < size / 6 && std::abs(y - 2 * size / 3) <= t % 8;
      const int shade = (x + y) / 4;
      pixel[0] = static_cast<std::uint8_t>(mouth ? 30 : 110 + shade / 2);
      pixel[1] = static_cast<std::uint8_t>(mouth ? 20 : 140 + shade / 2);
      pixel[2] = static_cast<std::uint8_t>(mouth ? 90 : 190 + shade / 2);
    }
  }
  return image;
}

std::string head_of(const std::filesystem::path& file, std::size_t bytes) {
  std::ifstream in(file, std::ios::binary);
  std::string head(bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(bytes));
  return head;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    sum += std::abs(static_cast<double>(a.pixels[i]) - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

}  // namespace

TEST_CASE("a video's ending names its format, in lower or upper case") {
  for (const char* name : {"a.mp4", "b.MOV", "c.mkv", "d.webm", "e.gif", "f.WebP"})
    CHECK(video_format(name) != nullptr);
  for (const char* name : {"a", "a.avi", "mp4", ".mp4", "a.mp4.txt"})
    CHECK(video_format(name) == nullptr);
  CHECK(video_endings() == ".mp4, .mov, .mkv, .webm, .gif, .webp");
}

TEST_CASE("each format holds the pictures and the sound that were written") {
  const ScratchFolder folder;
  put_tone(folder / "a.wav", 1);
  const auto [name, begin] = GENERATE(table<std::string, std::string>({
      {"a.mp4", std::string("\0\0\0\x1c"
                            "ftypisom",
                            12)},
      {"a.mov", std::string("\0\0\0\x14"
                            "ftypqt",
                            10)},
      {"a.mkv", "\x1a\x45\xdf\xa3"},
      {"a.webm", "\x1a\x45\xdf\xa3"},
      {"a.gif", "GIF89a"},
      {"a.webp", "RIFF"},
  }));
  CAPTURE(name);
  const VideoFormat& format = *video_format(name);
  VideoWriter writer({.path = folder / name,
                      .format = &format,
                      .width = 96,
                      .height = 96,
                      .fps = 10,
                      .audio = folder / "a.wav"});
  for (int t = 0; t < 10; ++t) writer.write(face_like(96, t).view());
  writer.finish();
  const std::string head = head_of(folder / name, begin.size());
  CHECK(head.substr(4) == begin.substr(4));
  if (format.pictures == PictureCodec::webp) return;  // this FFmpeg reads no moving one
  VideoReader reader = VideoReader::open(folder / name);
  int count = 0;
  while (const std::optional<VideoFrame> frame = reader.next()) {
    CHECK(mean_difference(frame->image, face_like(96, count)) < 6);
    ++count;
  }
  CHECK(count == 10);
  if (format.sound == SoundCodec::none) return;
  const Audio sound = decode_audio(folder / name);
  CHECK(sound.duration_s() == Approx(1).margin(0.15));
  CHECK(*std::ranges::max_element(sound.samples) == Approx(0.5).margin(0.1));
}

TEST_CASE("pictures that move begin again at their end") {
  const ScratchFolder folder;
  const auto written = [&](const std::string& name) {
    VideoWriter writer({.path = folder / name,
                        .format = video_format(name),
                        .width = 32,
                        .height = 32,
                        .fps = 10});
    for (int t = 0; t < 2; ++t) writer.write(face_like(32, t).view());
    writer.finish();
    return head_of(folder / name, 4096);
  };
  const std::string forever("\0\0", 2);  // how often: 0 stands for that
  const std::string gif = written("a.gif"), webp = written("a.webp");
  const std::size_t in_gif = gif.find("NETSCAPE2.0"), in_webp = webp.find("ANIM");
  REQUIRE(in_gif != std::string::npos);
  REQUIRE(in_webp != std::string::npos);
  CHECK(gif.substr(in_gif + 13, 2) == forever);    // behind the size and the kind of the block
  CHECK(webp.substr(in_webp + 12, 2) == forever);  // behind the size of the chunk and the colour
}

TEST_CASE("a GIF that is too fast for browsers is refused") {
  const ScratchFolder folder;
  expect_error(Code::invalid, {"1 to 50"}, [&] {
    VideoWriter({.path = folder / "a.gif",
                 .format = video_format("a.gif"),
                 .width = 32,
                 .height = 32,
                 .fps = 60});
  });
}

// Grain that stands still: a closed group's key frame codes it afresh, which shows as a step.
TEST_CASE("open groups hide the step at the video's key frame") {
  const ScratchFolder folder;
  std::mt19937 random(1);
  Image grain(192, 192);
  for (std::uint8_t& value : grain.pixels) value = static_cast<std::uint8_t>(118 + random() % 20);
  const auto step = [&](bool open_groups) {
    const auto file = folder / (open_groups ? "open.mp4" : "closed.mp4");
    VideoWriter writer(
        {.path = file, .width = 192, .height = 192, .threads = 1, .open_groups = open_groups});
    for (int t = 0; t < 270; ++t) {
      Image picture = grain;
      for (std::size_t i = 0; i < picture.pixels.size(); ++i)  // the light changes slowly
        picture.pixels[i] = static_cast<std::uint8_t>(picture.pixels[i] + 8 * std::sin(t / 40.0));
      writer.write(picture.view());
    }
    writer.finish();
    VideoReader reader = VideoReader::open(file);
    std::optional<VideoFrame> before = reader.next();
    double largest = 0, sum = 0;
    int t = 1;
    for (; std::optional<VideoFrame> frame = reader.next(); ++t) {
      const double change = mean_difference(before->image, frame->image);
      if (t > 245 && t < 256) largest = std::max(largest, change);
      sum += change;
      before = std::move(frame);
    }
    return largest / (sum / t);
  };
  const double closed = step(false), open = step(true);
  CAPTURE(closed, open);
  CHECK(open < 0.75 * closed);
}

TEST_CASE("a sound file is the part that was asked for, with silence behind its end") {
  const ScratchFolder folder;
  std::vector<float> samples(8000, 0.5F);
  std::fill_n(samples.begin(), 4000, -0.5F);
  write_wav(folder / "a.wav", 8000, samples);
  write_sound_file(
      {.source = folder / "a.wav", .output = folder / "b.wav", .start_s = 0.25, .duration_s = 1});
  const Audio part = decode_audio(folder / "b.wav");
  CHECK(part.damage.empty());
  REQUIRE(part.samples.size() == 8000);
  CHECK(part.samples[1999] == Approx(-0.5).margin(0.001));
  CHECK(part.samples[2000] == Approx(0.5).margin(0.001));
  CHECK(part.samples[5999] == Approx(0.5).margin(0.001));
  CHECK(part.samples[6000] == 0);
}
