#include "avatars/bundle/mp4_outline.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "core/files/data_directory.h"
#include "core/media/decode/indexed_video.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using navtalk::tests::TemporaryDirectory;

namespace {

std::filesystem::path demo_frames(const std::string& avatar) {
  return data_directory() / "demo/avatars" / avatar / "frames.mp4";
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("an MP4's outline says what FFmpeg says") {
  for (const std::string avatar : {"ada", "theo"}) {
    CAPTURE(avatar);
    const auto outline = mp4_outline(demo_frames(avatar));
    REQUIRE(outline);
    const IndexedVideo video = IndexedVideo::open(demo_frames(avatar));
    CHECK(outline->width == video.width());
    CHECK(outline->height == video.height());
    CHECK(outline->frames == video.frame_count());
  }
}

TEST_CASE("an MP4 that was cut, at whatever place, is not taken for whole") {
  const TemporaryDirectory folder;
  const std::string whole = content(demo_frames("ada"));
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1) {
    CAPTURE(size);
    put(folder / "cut.mp4", whole.substr(0, size));
    CHECK_FALSE(mp4_outline(folder / "cut.mp4"));
  }
  put(folder / "cut.mp4", whole.substr(0, whole.size() - 1));
  CHECK_FALSE(mp4_outline(folder / "cut.mp4"));
  CHECK_FALSE(mp4_outline(folder / "missing.mp4"));
  CHECK_FALSE(mp4_outline(folder.path()));
}

TEST_CASE("an MP4 whose samples lie elsewhere, or of another codec, is left to FFmpeg") {
  const TemporaryDirectory folder;
  const std::string whole = content(demo_frames("ada"));
  const auto changed = [&](const std::string& box, std::size_t at, const std::string& bytes) {
    std::string other = whole;
    other.replace(other.find(box, other.find("moov")) + at, bytes.size(), bytes);
    put(folder / "other.mp4", other);
    return mp4_outline(folder / "other.mp4");
  };
  CHECK(changed("stsz", 0, "stsz"));
  CHECK_FALSE(changed("avc1", 0, "hvc1"));
  CHECK_FALSE(changed("avcC", 5, "\x7A"));               // H.264, but 4:2:2
  CHECK_FALSE(changed("stco", 12, "\x7F\xFF\xFF\xFF"));  // the first chunk lies past the end
  CHECK_FALSE(changed("stsz", 16, "\x7F\xFF\xFF\xFF"));  // the first sample is longer than all
  CHECK_FALSE(changed("stsz", 12, "\x7F\xFF\xFF\xFF"));  // more samples than stand in the table
  CHECK_FALSE(changed("stss", 12, std::string("\0\0\0\x02", 4)));  // no key frame first
}

TEST_CASE("no byte of an MP4's index can be changed so that reading it fails badly") {
  const TemporaryDirectory folder;
  const std::string whole = content(demo_frames("ada"));
  const std::size_t index = whole.find("moov") - 4;  // the last box
  REQUIRE(whole.find("mdat") < index);
  for (std::size_t at = index; at < whole.size(); at += 7) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0xFF);
    put(folder / "other.mp4", other);
    const auto outline = mp4_outline(folder / "other.mp4");
    if (outline) CHECK(outline->frames <= 100'000);
  }
}
