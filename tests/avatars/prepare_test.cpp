#include "avatars/prepare/prepare.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/preview.h"
#include "avatars/faces/cascade_faces.h"
#include "avatars/faces/given_faces.h"
#include "avatars/faces/shape_faces.h"
#include "core/base/error.h"
#include "core/media/image_file.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/folder_contents.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::draw;
using tests::moving_face;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

using tests::contents;
using tests::k_box;

PrepareOptions options(const ClipSource& source, const fs::path& output) {
  return {.source = source,
          .output = output,
          .id = {},
          .faces = std::make_shared<GivenFaces>(k_box),
          .latents = std::nullopt};
}

AvatarInfo run(const PrepareOptions& what) { return prepare(what, {}, {}); }

std::string refusal(const PrepareOptions& what, Code code = Code::invalid) {
  try {
    run(what);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK_FALSE(fs::exists(what.output));
    CHECK_FALSE(fs::exists(what.output.string() + ".partial"));
    return error.message();
  }
  return "nothing was wrong";
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

}  // namespace

TEST_CASE("a video becomes a bundle with a face in every frame") {
  const TemporaryDirectory base;
  const std::vector<Image> frames = moving_face(12);
  tests::write_clip(base / "in.mp4", frames);
  PrepareOptions what = options(base / "in.mp4", base / "ada");
  what.faces = nullptr;
  const AvatarInfo info = run(what);
  CHECK(info.id == "ada");
  CHECK(info.width == 160);
  CHECK(info.height == 120);
  CHECK(info.frames == 12);
  CHECK(info.faceless_frames == 0);
  CHECK(info.face_source == (installed_shape_predictor() ? "dlib" : "cascade"));
  const Bundle bundle = Bundle::open(base / "ada");
  CHECK(bundle.info() == info);
  for (std::int64_t i = 0; i < 12; ++i) {
    const Box& box = bundle.face(i)->placement.box;
    CHECK(std::abs((box.x1 + box.x2) / 2 - (80 + i / 2)) <= 4);  // where the face was drawn
    CHECK(box.y1 < 60);
    CHECK(box.y2 > 60 + 20);
    CHECK(bundle.mask(i).width == bundle.face(i)->mask_region.width());
    CHECK(mean_difference(bundle.frame(i), frames[static_cast<std::size_t>(i)]) < 3);
  }
  CHECK(contents(base / "ada").size() == 4);
}

TEST_CASE("a bundle's frames have the same bytes in every order of asking") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(20));
  run(options(base / "in.mp4", base / "ada"));
  const Bundle bundle = Bundle::open(base / "ada");
  std::vector<Image> forwards;
  for (std::int64_t i = 0; i < 20; ++i) forwards.push_back(bundle.frame(i));
  for (std::int64_t t = 19; t < 45; ++t) {
    const std::int64_t i = ping_pong(t, 20);
    CHECK(bundle.frame(i) == forwards[static_cast<std::size_t>(i)]);
  }
  CHECK(Bundle::open(base / "ada").frame(13) == forwards[13]);
}

TEST_CASE("a contact sheet shows twelve frames with the faces' boxes, or as many as there are") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(30));
  run(options(base / "in.mp4", base / "ada"));
  const Image sheet = contact_sheet(Bundle::open(base / "ada"));
  CHECK(sheet.width == 4 * 320 + 3 * 4);
  CHECK(sheet.height == 3 * 240 + 2 * 4);
  // In each of the twelve some pixels have the box's green, and the corner the number's outline.
  for (int k = 0; k < 12; ++k) {
    CAPTURE(k);
    int green = 0, dark = 0;
    for (int y = k / 4 * 244; y < k / 4 * 244 + 240; ++y) {
      for (int x = k % 4 * 324; x < k % 4 * 324 + 320; ++x) {
        const std::uint8_t* pixel = sheet.view().at(x, y);
        green += pixel[1] > 180 && pixel[0] < 120 && pixel[2] < 120 ? 1 : 0;
        dark +=
            x % 324 < 40 && y % 244 < 26 && pixel[0] < 30 && pixel[1] < 30 && pixel[2] < 30 ? 1 : 0;
      }
    }
    CHECK(green > 100);
    CHECK(dark > 10);
  }
  tests::write_clip(base / "short.mp4", moving_face(2));
  run(options(base / "short.mp4", base / "bob"));
  CHECK(contact_sheet(Bundle::open(base / "bob")).width == 2 * 320 + 4);
}

TEST_CASE("the same input gives the same bytes") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(12), 30);
  for (const bool find : {false, true}) {
    PrepareOptions one = options(base / "in.mp4", base / "one"),
                   two = options(base / "in.mp4", base / "two");
    one.id = two.id = "ada";
    one.force = two.force = true;
    if (find) one.faces = two.faces = nullptr;
    run(one);
    run(two);
    CHECK(contents(base / "one") == contents(base / "two"));
  }
}

TEST_CASE("a video that is fit for it is copied, not encoded again") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(12));
  run(options(base / "in.mp4", base / "ada"));
  CHECK(fs::file_size(base / "ada/frames.mp4") < fs::file_size(base / "in.mp4") + 500);
  PrepareOptions again = options(base / "ada/frames.mp4", base / "bob");
  run(again);
  CHECK(contents(base / "ada")["frames.mp4"] == contents(base / "bob")["frames.mp4"]);
}

TEST_CASE("another frame rate is converted by time") {
  const TemporaryDirectory base;
  std::vector<Image> frames;
  frames.reserve(60);
  for (int i = 0; i < 60; ++i) frames.push_back(draw(160, 120, {{80.0 + i, 60, 50}}));
  tests::write_clip(base / "in.mp4", frames, 30);
  CHECK(run(options(base / "in.mp4", base / "slow")).frames == 50);  // two seconds
  const Bundle bundle = Bundle::open(base / "slow");
  for (const std::int64_t t : {0, 7, 24, 49}) {
    const double source = (static_cast<double>(t) + 0.5) / 25 * 30;  // shown at the frame's middle
    CHECK(mean_difference(bundle.frame(t), frames[static_cast<std::size_t>(source)]) < 3);
  }
  PrepareOptions fast = options(base / "in.mp4", base / "fast");
  fast.fps = 60;
  CHECK(run(fast).frames == 120);
}

TEST_CASE("a still is a clip of one frame, odd sizes included") {
  const TemporaryDirectory base;
  const Image picture = draw(161, 121, {{80, 60, 54}});
  write_png(base / "face.png", picture.view());
  PrepareOptions what = options(std::vector{base / "face.png"}, base / "still");
  what.faces = nullptr;
  const AvatarInfo info = run(what);
  CHECK(info.frames == 1);
  CHECK(info.width == 161);
  CHECK(info.height == 121);
  const Bundle bundle = Bundle::open(base / "still");
  CHECK(bundle.frame(0).width == 161);
  CHECK(bundle.frame(0).height == 121);
  CHECK(mean_difference(bundle.frame(0), picture) < 3);
}

TEST_CASE("pictures become frames in their order") {
  const TemporaryDirectory base;
  const std::vector<Image> frames = moving_face(3);
  fs::create_directory(base / "in");
  for (std::size_t i = 0; i < 3; ++i)
    write_png(base / "in" / (std::to_string(i + 9) + ".png"), frames[i].view());
  run(options(list_pictures(base / "in"), base / "ada"));
  const Bundle bundle = Bundle::open(base / "ada");
  REQUIRE(bundle.frame_count() == 3);
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK(mean_difference(bundle.frame(i), frames[static_cast<std::size_t>(i)]) < 3);
}

TEST_CASE("frames without a face keep their place") {
  const TemporaryDirectory base;
  std::vector<Image> frames = moving_face(40);
  for (std::size_t i = 15; i < 30; ++i) frames[i] = draw(160, 120, {});
  tests::write_clip(base / "in.mp4", frames);
  PrepareOptions what = options(base / "in.mp4", base / "ada");
  what.faces = nullptr;
  const AvatarInfo info = run(what);
  CHECK(info.frames == 40);
  CHECK(info.faceless_frames == 15);
  const Bundle bundle = Bundle::open(base / "ada");
  for (std::int64_t i = 0; i < 40; ++i) CHECK(bundle.face(i).has_value() == (i < 15 || i >= 30));
}

TEST_CASE("faces of one size share one mask") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(30));
  run(options(base / "in.mp4", base / "ada"));
  CHECK(fs::file_size(base / "ada/masks.safetensors") < 60 * 70 + 4096);
}

TEST_CASE("bad input is refused by name and leaves nothing behind") {
  const TemporaryDirectory base;
  tests::write_clip(base / "good.mp4", moving_face(12));
  PrepareOptions what = options(base / "in.mp4", base / "ada");

  SECTION("no such file") { CHECK_THAT(refusal(what, Code::not_found), Catch::Contains("in.mp4")); }
  SECTION("no video") {
    std::ofstream(base / "in.mp4") << "this is a letter, not a video";
    CHECK_THAT(refusal(what), Catch::Contains("in.mp4"));
  }
  SECTION("truncated") {
    fs::copy_file(base / "good.mp4", base / "in.mp4");
    fs::resize_file(base / "in.mp4", fs::file_size(base / "in.mp4") * 2 / 3);
    CHECK_THAT(refusal(what), Catch::Contains("in.mp4"));
  }
  SECTION("no face") {
    tests::write_clip(base / "in.mp4", std::vector<Image>(12, draw(160, 120, {})));
    what.faces = nullptr;
    CHECK_THAT(refusal(what), Catch::Contains("no face was found"));
  }
  SECTION("two faces") {
    const Image two = draw(320, 120, {{80, 60, 54}, {240, 60, 52}});
    tests::write_clip(base / "in.mp4", std::vector<Image>(12, two));
    what.faces = std::make_shared<CascadeFaces>(FollowOptions{.face = 3});
    CHECK_THAT(refusal(what), Catch::Contains("there are 2 faces"));
    what.faces = std::make_shared<CascadeFaces>(FollowOptions{.face = 2});
    run(what);
    CHECK(Bundle::open(what.output).face(0)->placement.box.x1 >
          160);  // the smaller one, on the right
  }
  SECTION("face too small") {
    tests::write_clip(base / "in.mp4", std::vector<Image>(12, draw(160, 120, {{80, 60, 38}})));
    what.faces = nullptr;
    CHECK_THAT(refusal(what), Catch::Contains("too small"));
  }
  SECTION("face box outside the frame") {
    what = options(base / "good.mp4", base / "ada");
    what.faces = std::make_shared<GivenFaces>(Box{100, 30, 161, 100});
    CHECK_THAT(refusal(what), Catch::Contains("leaves the frame of 160x120"));
  }
  SECTION("face box too small") {
    what = options(base / "good.mp4", base / "ada");
    what.faces = std::make_shared<GivenFaces>(Box{100, 30, 139, 100});
    CHECK_THAT(refusal(what), Catch::Contains("smaller than 40 pixels"));
  }
  SECTION("face boxes for another number of frames") {
    what = options(base / "good.mp4", base / "ada");
    what.faces = std::make_shared<GivenFaces>(FaceBoxes(11, k_box));
    CHECK_THAT(refusal(what), Catch::Contains("11 face boxes are given for 12 frames"));
  }
  SECTION("an id that is not an id") {
    what = options(base / "good.mp4", base / "my avatar");
    CHECK_THAT(refusal(what), Catch::Contains("my avatar") && Catch::Contains("--id"));
  }
  SECTION("0 frames a second") {
    what = options(base / "good.mp4", base / "ada");
    what.fps = 0;
    CHECK_THAT(refusal(what), Catch::Contains("0 frames a second"));
  }
  SECTION("no cascade files") {
    what = options(base / "good.mp4", base / "ada");
    what.faces =
        std::make_shared<CascadeFaces>(FollowOptions{}, std::vector<fs::path>{base / "nowhere"});
    CHECK_THAT(refusal(what, Code::not_found), Catch::Contains("opencv-data"));
  }
  SECTION("pictures of two sizes") {
    write_png(base / "1.png", draw(160, 120, {}).view());
    write_png(base / "2.png", draw(160, 122, {}).view());
    what = options(std::vector{base / "1.png", base / "2.png"}, base / "ada");
    CHECK_THAT(refusal(what), Catch::Contains("differ in size") && Catch::Contains("2.png"));
  }
}

TEST_CASE("an avatar that stands is only replaced when asked") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(4));
  PrepareOptions what = options(base / "in.mp4", base / "ada");
  run(what);
  const auto before = contents(base / "ada");
  CHECK_THROWS_WITH(run(what), Catch::Contains("--force"));
  CHECK(contents(base / "ada") == before);
  what.force = true;
  what.id = "bob";
  run(what);
  CHECK(Bundle::open(base / "ada").info().id == "bob");
}

TEST_CASE("force never replaces a folder that is not an avatar") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(4));
  fs::create_directory(base / "letters");
  std::ofstream(base / "letters/dear.txt") << "dear";
  PrepareOptions what = options(base / "in.mp4", base / "letters");
  what.force = true;
  CHECK_THROWS_AS(run(what), Error);
  CHECK(fs::exists(base / "letters/dear.txt"));
}

TEST_CASE("interrupted work is kept and taken up again, with the same result") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", moving_face(12), 30);
  PrepareOptions what = options(base / "in.mp4", base / "ada");
  what.faces = nullptr;
  PrepareOptions straight = what;
  straight.output = base / "straight";
  straight.id = "ada";
  run(straight);

  std::stop_source stop;
  const auto interrupt = [&](std::string_view stage, std::size_t, std::size_t) {
    if (stage == "faces") stop.request_stop();
  };
  CHECK_THROWS_AS(prepare(what, interrupt, stop.get_token()), Error);
  CHECK_FALSE(fs::exists(base / "ada"));
  REQUIRE(fs::exists(base / "ada.partial/frames.mp4"));
  const auto kept = fs::last_write_time(base / "ada.partial/frames.mp4");

  run(what);
  CHECK(fs::last_write_time(base / "ada/frames.mp4") == kept);
  CHECK_FALSE(fs::exists(base / "ada.partial"));
  CHECK(contents(base / "ada") == contents(base / "straight"));
}

TEST_CASE("a lossless avatar holds the very pictures of its source") {
  const TemporaryDirectory base;
  const Image picture = moving_face(1).front();
  write_png(base / "ada.png", picture.view());
  PrepareOptions what = options(std::vector{base / "ada.png"}, base / "ada");
  what.lossless = true;
  const AvatarInfo info = run(what);
  CHECK(info.rgb);
  CHECK(info.format_version == 2);
  const Bundle bundle = Bundle::open(base / "ada");
  CHECK(bundle.info() == info);
  CHECK(bundle.frame(0) == picture);
  what.output = base / "coded";
  what.lossless = false;
  run(what);
  CHECK(Bundle::open(base / "coded").frame(0) != picture);
}

TEST_CASE("what was left by a run on other input is thrown away") {
  const TemporaryDirectory base;
  tests::write_clip(base / "one.mp4", moving_face(12), 30);
  tests::write_clip(base / "two.mp4", moving_face(10), 30);
  PrepareOptions what = options(base / "one.mp4", base / "ada");
  what.faces = nullptr;
  std::stop_source stop;
  const auto interrupt = [&](std::string_view stage, std::size_t, std::size_t) {
    if (stage == "faces") stop.request_stop();
  };
  CHECK_THROWS_AS(prepare(what, interrupt, stop.get_token()), Error);
  what.source = base / "two.mp4";
  run(what);
  what.output = base / "straight";
  what.id = "ada";
  run(what);
  CHECK(contents(base / "ada") == contents(base / "straight"));
}
