// Random access to a video's frames, and taking a stream over unchanged.
#include "core/media/decode/indexed_video.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "core/base/error.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/stream_copy.h"
#include "core/media/encode/video_writer.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

// Frame i is recognisable: a bright bar at column 2 * i on a gradient.
Image picture(int i, int width = 192, int height = 64) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      const bool bar = x / 4 == i % (width / 4);
      pixel[0] = pixel[1] = pixel[2] = bar ? 235 : static_cast<std::uint8_t>(40 + y);
    }
  }
  return image;
}

void write_video(const fs::path& file, int frames, const FrameRate& fps = 25, int width = 192,
                 int height = 64) {
  VideoWriter writer({.path = file,
                      .width = width,
                      .height = height,
                      .fps = fps,
                      .audio = std::nullopt,
                      .crf = 12,
                      .threads = 1});
  for (int i = 0; i < frames; ++i) writer.write(picture(i, width, height).view());
  writer.finish();
}

std::vector<Image> all_frames(const fs::path& file) {
  std::vector<Image> frames;
  VideoReader reader = VideoReader::open(file);
  while (auto frame = reader.next()) frames.push_back(std::move(frame->image));
  return frames;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("frames by number are those of sequential reading, in any order, with any cache") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 40);
  const std::vector<Image> expected = all_frames(base / "v.mp4");
  REQUIRE(expected.size() == 40);
  for (const std::size_t pictures : {0, 5, 1000}) {
    IndexedVideo video = IndexedVideo::open(
        base / "v.mp4", {.cache_bytes = pictures * 192 * 64 * 3 / 2, .threads = 2});
    CHECK(video.frame_count() == 40);
    CHECK(video.width() == 192);
    CHECK(video.height() == 64);
    CHECK(video.rate() == FrameRate(25));
    for (int i = 0; i < 40; ++i) CHECK(video.frame(i) == expected[static_cast<std::size_t>(i)]);
    for (int i = 39; i >= 0; --i) CHECK(video.frame(i) == expected[static_cast<std::size_t>(i)]);
    for (const int i : {20, 3, 39, 38, 0, 21, 21, 7})
      CHECK(video.frame(i) == expected[static_cast<std::size_t>(i)]);
    video.check_all();
  }
}

TEST_CASE("the last frames of a video that is played forwards come without decoding it again") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 40);
  const std::vector<Image> expected = all_frames(base / "v.mp4");
  IndexedVideo video = IndexedVideo::open(base / "v.mp4");
  for (int i = 0; i < 38; ++i) video.frame(i);
  fs::resize_file(base / "v.mp4", 0);  // the decoder has all of it
  CHECK(video.frame(38) == expected[38]);
  CHECK(video.frame(39) == expected[39]);
}

TEST_CASE("a video of one frame has one frame") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 1);
  IndexedVideo video = IndexedVideo::open(base / "v.mp4");
  CHECK(video.frame_count() == 1);
  CHECK(video.frame(0) == all_frames(base / "v.mp4")[0]);
  CHECK(video.frame(0) == all_frames(base / "v.mp4")[0]);
}

TEST_CASE("what is not H.264 in MP4 is refused with its name") {
  const TemporaryDirectory base;
  CHECK_THROWS_WITH(IndexedVideo::open(base / "absent.mp4"), Catch::Contains("absent.mp4"));
  std::ofstream(base / "text.mp4") << "hello, this is text";
  CHECK_THROWS_WITH(IndexedVideo::open(base / "text.mp4"), Catch::Contains("text.mp4"));
  // A playlist would be read by FFmpeg, and could name any file.
  std::ofstream(base / "list.mp4") << "ffconcat version 1.0\nfile v.mp4\n";
  write_video(base / "v.mp4", 2);
  CHECK_THROWS_WITH(IndexedVideo::open(base / "list.mp4"), Catch::Contains("list.mp4"));
}

TEST_CASE("a truncated video is refused wherever it is cut") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 40);
  const auto size = fs::file_size(base / "v.mp4");
  for (const int percent : {1, 30, 60, 99}) {
    fs::copy_file(base / "v.mp4", base / "cut.mp4", fs::copy_options::overwrite_existing);
    fs::resize_file(base / "cut.mp4", size * static_cast<unsigned>(percent) / 100);
    CHECK_THROWS_AS(IndexedVideo::open(base / "cut.mp4"), Error);
  }
}

TEST_CASE("a video that is cut within its first picture is called cut, not of another format") {
  const TemporaryDirectory base;
  std::mt19937 random(1);
  Image noise(256, 256);
  for (std::uint8_t& value : noise.pixels) value = static_cast<std::uint8_t>(random());
  VideoWriter writer({.path = base / "v.mp4", .width = 256, .height = 256});
  writer.write(noise.view());
  writer.finish();
  fs::resize_file(base / "v.mp4", fs::file_size(base / "v.mp4") / 10);
  CHECK_THROWS_WITH(IndexedVideo::open(base / "v.mp4"), Catch::Contains("cut off or damaged"));
}

TEST_CASE("a copied stream has the source's pictures, and copying again gives the same bytes") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 40);
  CHECK(copy_video_stream(base / "v.mp4", base / "one.mp4", 25) == std::nullopt);
  CHECK(copy_video_stream(base / "one.mp4", base / "two.mp4", 25) == std::nullopt);
  CHECK(bytes_of(base / "one.mp4") == bytes_of(base / "two.mp4"));
  const std::vector<Image> expected = all_frames(base / "v.mp4");
  IndexedVideo copy = IndexedVideo::open(base / "one.mp4");
  REQUIRE(copy.frame_count() == 40);
  for (int i = 39; i >= 0; --i) CHECK(copy.frame(i) == expected[static_cast<std::size_t>(i)]);
}

TEST_CASE(
    "a copied stream keeps a rate that is not whole, and is refused for the nearest whole one") {
  const TemporaryDirectory base;
  const FrameRate rate = GENERATE(FrameRate(30000, 1001), FrameRate(24000, 1001));
  write_video(base / "v.mp4", 61, rate);
  CHECK(copy_video_stream(base / "v.mp4", base / "copy.mp4", rate) == std::nullopt);
  IndexedVideo copy = IndexedVideo::open(base / "copy.mp4");
  CHECK(copy.rate() == rate);
  CHECK(copy.frame_count() == 61);
  const int whole = rate > 25 ? 30 : 24;
  const auto why = copy_video_stream(base / "v.mp4", base / "other.mp4", whole);
  REQUIRE(why);
  CHECK(*why == "it does not have " + std::to_string(whole) + " evenly spaced frames a second");
}

TEST_CASE("a stream of another frame rate is not copied, and nothing is written") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 10, 30);
  const auto why = copy_video_stream(base / "v.mp4", base / "copy.mp4", 25);
  REQUIRE(why);
  CHECK_THAT(*why, Catch::Contains("25 evenly spaced frames"));
  CHECK_FALSE(fs::exists(base / "copy.mp4"));
}

TEST_CASE("frames around a later key frame are those of sequential reading") {
  const TemporaryDirectory base;
  // x264 sets one every 250 frames at the latest; without scene changes not before.
  write_video(base / "v.mp4", 260, 25, 64, 16);
  CHECK(copy_video_stream(base / "v.mp4", base / "copy.mp4", 25) == std::nullopt);
  IndexedVideo copy = IndexedVideo::open(base / "copy.mp4", {.cache_bytes = 0, .threads = 1});
  const std::vector<Image> expected = all_frames(base / "v.mp4");
  for (const int i : {255, 249, 250, 251, 0, 259})
    CHECK(copy.frame(i) == expected[static_cast<std::size_t>(i)]);
}

TEST_CASE("a damaged file is never copied") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 40);
  const auto size = fs::file_size(base / "v.mp4");
  for (const int percent : {10, 50, 90, 99}) {
    fs::copy_file(base / "v.mp4", base / "cut.mp4", fs::copy_options::overwrite_existing);
    fs::resize_file(base / "cut.mp4", size * static_cast<unsigned>(percent) / 100);
    std::optional<std::string> why;
    try {
      why = copy_video_stream(base / "cut.mp4", base / "copy.mp4", 25);
    } catch (const Error& error) {
      why = error.message();
    }
    CHECK(why);
    CHECK_FALSE(fs::exists(base / "copy.mp4"));
  }
  CHECK_THROWS_WITH(copy_video_stream(base / "absent.mp4", base / "copy.mp4", 25),
                    Catch::Contains("absent.mp4"));
}

TEST_CASE("a destination that cannot be written is named") {
  const TemporaryDirectory base;
  write_video(base / "v.mp4", 4);
  CHECK_THROWS_WITH(copy_video_stream(base / "v.mp4", base / "no/such/copy.mp4", 25),
                    Catch::Contains("no/such/copy.mp4"));
}
