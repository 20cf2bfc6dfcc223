// Preparation of avatars with several clips.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/live/live_pictures.h"
#include "avatars/prepare/match_clips.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "tests/avatars/drawn_face.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::k_box;
using tests::moving_face;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

std::vector<Image> part(const std::vector<Image>& frames, std::size_t first, std::size_t end) {
  return {frames.begin() + static_cast<std::ptrdiff_t>(first),
          frames.begin() + static_cast<std::ptrdiff_t>(end)};
}

// A face that goes to the right: speech shows its first steps, silence the last ones backwards, "step" those between.
class Sources {
 public:
  Sources() {
    const std::vector<Image> frames = moving_face(60);
    tests::write_clip(base / "speaks.mp4", part(frames, 0, 30));
    std::vector<Image> back = part(frames, 15, 60);
    std::ranges::reverse(back);
    tests::write_clip(base / "waits.mp4", back);
    tests::write_clip(base / "steps.mp4", part(frames, 20, 44));
  }
  PrepareOptions options(const std::string& name) const {
    return {
        .source = fs::path(base / "speaks.mp4"),
        .clips = {{"idle", fs::path(base / "waits.mp4")}, {"step", fs::path(base / "steps.mp4")}},
        .output = base / name,
        .id = "ada",
        .faces = std::make_shared<GivenFaces>(k_box),
        .latents = std::nullopt};
  }
  TemporaryDirectory base;
};

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

std::string refused(const PrepareOptions& what) {
  try {
    prepare(what, {}, {});
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    CHECK_FALSE(fs::exists(what.output));
    return error.message();
  }
  return "nothing was wrong";
}

}  // namespace

TEST_CASE("clips follow one another in one bundle, and meet where their pictures are alike") {
  const Sources sources;
  prepare(sources.options("ada"), {}, {});
  const Bundle bundle = Bundle::open(sources.base / "ada");
  const AvatarInfo& info = bundle.info();
  CHECK(info.format_version == 2);
  CHECK(info.frames == 99);
  REQUIRE(info.clips.size() == 3);
  CHECK(info.clips[0] == AvatarClip{.name = "speaking", .first = 0, .frames = 30});
  CHECK(info.clips[1] == AvatarClip{.name = "idle", .first = 30, .frames = 45});
  CHECK(info.clips[2] == AvatarClip{.name = "step", .first = 75, .frames = 24});
  REQUIRE(bundle.transitions() != nullptr);
  const Transitions& transitions = *bundle.transitions();
  // Frame 30 + k of the bundle is picture 59 - k of the walk, and 75 + k is picture 20 + k. Clips that go in opposite
  // directions are most alike where they meet in the midst of the change, two pictures later.
  for (const std::int64_t frame : {18, 22, 26}) {
    CAPTURE(frame);
    const std::int64_t met = 59 - (transitions.into(1, frame).entry - 30);
    CHECK(std::abs(met - (frame + 4)) <= 1);
  }
  CHECK(std::abs(transitions.into(0, 30 + 40).entry - (19 - 4)) <= 1);
  // Those that go in the same direction are alike all the way.
  CHECK(std::abs(transitions.into(0, 75 + 5).entry - 25) <= 1);
  CHECK(transitions.into(0, 30 + 40).difference < transitions.into(0, 30).difference);
  // An action is entered in its first quarter only.
  for (std::int64_t frame = 0; frame < 75; ++frame) {
    CHECK(transitions.into(2, frame).entry >= 75);
    CHECK(transitions.into(2, frame).entry < 75 + 6);
  }
  for (std::int64_t frame = 75; frame < 99; ++frame)
    CHECK(transitions.into(2, frame).entry == frame);
}

TEST_CASE("clips into which a session would jump are told") {
  const Sources sources;
  std::vector<Image> negative = moving_face(45);
  for (Image& frame : negative)
    for (std::uint8_t& value : frame.pixels) value = static_cast<std::uint8_t>(255 - value);
  tests::write_clip(sources.base / "other.mp4", negative);
  PrepareOptions options = sources.options("ada");
  options.clips.push_back({"other", fs::path(sources.base / "other.mp4")});
  prepare(options, {}, {});
  const Bundle bundle = Bundle::open(sources.base / "ada");
  REQUIRE(bundle.transitions() != nullptr);
  const std::vector<UnlikeClip> unlike = unlike_clips(*bundle.transitions(), bundle.info());
  REQUIRE(unlike.size() == 1);
  CHECK(unlike[0].name == "other");
  CHECK(unlike[0].difference > 50);
}

TEST_CASE("a clip that ends as it begins goes round") {
  const Sources sources;
  std::vector<Image> there = moving_face(20), back = there;
  std::ranges::reverse(back);
  there.insert(there.end(), back.begin(), back.end());
  tests::write_clip(sources.base / "round.mp4", there);
  PrepareOptions what = sources.options("ada");
  what.clips[0].source = fs::path(sources.base / "round.mp4");
  const AvatarInfo info = prepare(what, {}, {});
  CHECK(info.clips[1].loop);
  CHECK_FALSE(info.clips[0].loop);
}

TEST_CASE("the same clips give the same bytes, also after an interruption") {
  const Sources sources;
  prepare(sources.options("one"), {}, {});
  std::stop_source stop;
  const Progress at_faces = [&](std::string_view stage, std::size_t, std::size_t) {
    if (stage == "matching") stop.request_stop();
  };
  CHECK_THROWS(prepare(sources.options("two"), at_faces, stop.get_token()));
  CHECK(fs::exists(sources.base / "two.partial"));
  bool read_again = false;
  const Progress reading = [&](std::string_view stage, std::size_t, std::size_t) {
    read_again = read_again || stage == "reading";
  };
  prepare(sources.options("two"), reading, {});
  CHECK_FALSE(read_again);
  CHECK(files_in(sources.base / "one") == files_in(sources.base / "two"));
}

TEST_CASE("clips that do not fit together are refused by their names") {
  const Sources sources;
  PrepareOptions what = sources.options("ada");
  tests::write_clip(sources.base / "small.mp4", {Image(80, 60), Image(80, 60)});
  what.clips[1].source = fs::path(sources.base / "small.mp4");
  CHECK_THAT(refused(what), Catch::Contains("the pictures differ in size") &&
                                Catch::Contains("small.mp4 is 80x60"));
  what.clips[1].source = fs::path(sources.base / "speaks.mp4");
  what.clips[1].name = "Step";
  CHECK_THAT(refused(what), Catch::Contains("\"Step\" cannot be the name of an action"));
  what.clips[1].name = "speaking";
  CHECK_THAT(refused(what), Catch::Contains("\"speaking\" cannot be the name of an action"));
  what.clips[1].name = "idle";
  CHECK_THAT(refused(what), Catch::Contains("two clips are named idle"));
  what.clips[1].name = "step";
  what.faces = nullptr;
  tests::write_clip(sources.base / "empty.mp4", std::vector<Image>(3, Image(160, 120)));
  what.clips[1].source = fs::path(sources.base / "empty.mp4");
  CHECK_THAT(refused(what), Catch::Contains("clip step") && Catch::Contains("no face"));
}

TEST_CASE("a picture between two clips has some of both") {
  const Sources sources;
  prepare(sources.options("ada"), {}, {});
  const auto bundle = std::make_shared<Bundle>(Bundle::open(sources.base / "ada"));
  Clip clip(sources.base / "ada/frames.mp4", bundle->info().width, bundle->info().height);
  LivePictures pictures(bundle, std::make_shared<SharedClip>(std::move(clip)), 0, 1000);
  const I420Picture from = pictures.still({.index = 5}), into = pictures.still({.index = 35});
  const I420Picture mixed = pictures.still({.index = 35, .before = 5, .weight = 0.25F});
  int furthest = 0;
  bool differ = false;
  for (std::size_t i = 0; i < std::size_t{160} * 120; ++i) {
    const double expected = 0.75 * from.bytes[i] + 0.25 * into.bytes[i];
    furthest = std::max(furthest, static_cast<int>(std::abs(expected - mixed.bytes[i])));
    differ = differ || std::abs(from.bytes[i] - into.bytes[i]) > 30;
  }
  CHECK(differ);
  CHECK(furthest <= 2);
}
