// Bundles become folders of MuseTalk's layout, and come back the same.
#include "avatars/exchange/export.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/bundle.h"
#include "avatars/exchange/import.h"
#include "avatars/exchange/musetalk_folder.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "core/media/image_file.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/exchange/musetalk_fixture.h"
#include "tests/avatars/fake_model.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::content;
namespace fs = std::filesystem;

namespace {

void require_same_files(const fs::path& left, const fs::path& right) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(left)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = fs::relative(entry.path(), left);
    CAPTURE(name);
    REQUIRE(fs::exists(right / name));
    CHECK((content(entry.path()) == content(right / name)));
    ++files;
  }
  CHECK(files > 5);
  CHECK(std::distance(fs::recursive_directory_iterator(left), {}) ==
        std::distance(fs::recursive_directory_iterator(right), {}));
}

// Out, in again, and out: both folders are the same.
void require_round_trip(const Bundle& avatar, const tests::TemporaryDirectory& base) {
  export_avatar(avatar, base / "first", false, {}, {});
  import_avatar({.folder = base / "first", .output = base / "back"}, {}, {});
  const Bundle back = Bundle::open(base / "back");
  CHECK(back.info().id == avatar.info().id);
  CHECK(back.info().fps == avatar.info().fps);
  CHECK(back.info().loop == avatar.info().loop);
  CHECK(back.info().voice == avatar.info().voice);
  CHECK(back.info().frames == avatar.info().frames);
  CHECK(back.info().faceless_frames == avatar.info().faceless_frames);
  export_avatar(back, base / "second", false, {}, {});
  require_same_files(base / "first", base / "second");
}

}  // namespace

TEST_CASE("an avatar that was exported, imported and exported again is identical") {
  const tests::TemporaryDirectory base;
  tests::write_clip(base / "ada.mp4", tests::moving_face(4));
  tests::FakeModel model;
  const bool loop = GENERATE(false, true);
  // The second frame has no face.
  FaceBoxes boxes(4, tests::k_box);
  boxes[1] = std::nullopt;
  prepare({.source = base / "ada.mp4",
           .output = base / "ada",
           .faces = std::make_shared<GivenFaces>(boxes),
           .loop = loop,
           .voice = "en-us+f3",
           .latents = model.named(tests::k_checksum)},
          {}, {});
  require_round_trip(Bundle::open(base / "ada"), base);
  const MuseTalkFolder folder = open_musetalk(base / "first");
  CHECK(folder.size() == (loop ? 4 : 8));
}

TEST_CASE("an imported folder of MuseTalk is exported with its own pictures, boxes and latents") {
  const tests::TemporaryDirectory base;
  import_avatar({.folder = tests::k_musetalk_avatar, .output = base / "lena"}, {}, {});
  require_round_trip(Bundle::open(base / "lena"), base);
  const MuseTalkFolder python = open_musetalk(tests::k_musetalk_avatar);
  const MuseTalkFolder ours = open_musetalk(base / "first");
  REQUIRE(ours.size() == python.size());
  CHECK(ours.boxes == python.boxes);
  CHECK(ours.mask_boxes == python.mask_boxes);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    CHECK(read_image(ours.frames[i]) == read_image(python.frames[i]));
    const std::string name = std::to_string(i);
    CHECK(ours.latents.read_f32(name).values == python.latents.read_f32(name).values);
  }
}
