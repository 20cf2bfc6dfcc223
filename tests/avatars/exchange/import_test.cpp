// Avatars of MuseTalk's Python become bundles that show the same pictures.
#include "avatars/exchange/import.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "core/base/error.h"
#include "core/media/image_file.h"
#include "tests/avatars/exchange/musetalk_fixture.h"
#include "tests/avatars/fake_model.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::copied_avatar;
using tests::file_name;
using tests::k_musetalk_avatar;
namespace fs = std::filesystem;

namespace {

AvatarInfo import(const fs::path& folder, const fs::path& output, bool loop = false) {
  return import_avatar({.folder = folder, .output = output, .loop = loop}, {}, {});
}

int largest_difference(const Image& left, const Image& right) {
  REQUIRE(left.pixels.size() == right.pixels.size());
  int largest = 0;
  for (std::size_t i = 0; i < left.pixels.size(); ++i)
    largest = std::max(largest, std::abs(left.pixels[i] - right.pixels[i]));
  return largest;
}

// Written as Python's protocol 2 writes [[a, b, c, d], ...] of small numbers.
void write_small_boxes(const fs::path& file, const std::vector<std::vector<int>>& boxes) {
  std::string bytes = "\x80\x02](";
  for (const auto& box : boxes) {
    bytes += "](";
    for (const int value : box) bytes += std::string("K") + static_cast<char>(value);
    bytes += "e";
  }
  std::ofstream(file, std::ios::binary) << bytes << "e.";
}

}  // namespace

TEST_CASE("an imported avatar shows what MuseTalk's Python shows, within one grey level") {
  const tests::TemporaryDirectory base;
  import(k_musetalk_avatar, base / "lena");
  const Bundle avatar = Bundle::open(base / "lena");
  REQUIRE(avatar.frame_count() == 3);
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    Image picture = avatar.frame(i);
    CHECK(picture == read_image(k_musetalk_avatar / "full_imgs" / file_name(i)));
    const Image face = read_image(k_musetalk_avatar / "faces" / file_name(i));
    const AvatarFace& place = *avatar.face(i);
    compose(picture.view(), face.view(), place.placement, avatar.mask(i), place.mask_region);
    const Image python = read_image(k_musetalk_avatar / "rendered" / file_name(i));
    CHECK(largest_difference(picture, python) <= 1);
    CHECK(largest_difference(avatar.frame(i), python) > 50);  // the face can be seen
  }
}

TEST_CASE(
    "an imported avatar keeps the folder's id, its latents, and half of its mirrored frames") {
  const tests::TemporaryDirectory base;
  const AvatarInfo info = import(k_musetalk_avatar, base / "lena");
  CHECK(info == read_avatar_info(base / "lena/avatar.json"));
  CHECK(info.id == "lena-1");
  CHECK(info.format_version == 2);
  CHECK(info.fps == FrameRate(25));
  CHECK((info.rgb && info.given_latents && !info.loop));
  CHECK(info.face_source == "musetalk");
  CHECK(has_all_frames(base / "lena", info));
  Bundle avatar = Bundle::open(base / "lena");
  // Given latents serve every model: none is opened.
  tests::FakeModel model;
  const LatentCache nowhere(base / "cache");
  avatar.ensure_latents(model.named(tests::k_checksum), nowhere);
  CHECK(model.opened == 0);
  const Checkpoint latents = Checkpoint::open(k_musetalk_avatar / "latents.pt");
  REQUIRE(latents.tensors().size() == 6);
  CHECK(latents.tensors()[0].dtype == DType::f16);
  for (int i = 0; i < 3; ++i)
    CHECK(avatar.latent(i).values == latents.read_f32(std::to_string(i)).values);
}

TEST_CASE("a folder of LiveTalking, which has every frame once, plays forwards and backwards") {
  const tests::TemporaryDirectory base;
  const fs::path folder = copied_avatar(base);
  fs::remove(folder / "avator_info.json");
  fs::remove(folder / "full_imgs" / file_name(5));
  fs::remove(folder / "full_imgs" / file_name(4));
  CHECK_THROWS_WITH(import(folder, base / "lena"), Catch::Contains("musetalk/mask") &&
                                                       Catch::Contains("6 entries") &&
                                                       Catch::Contains("full_imgs has 4 frames"));
  // Another picture in the second half: nothing is mirrored, all six frames are kept.
  const tests::TemporaryDirectory other;
  const fs::path whole = copied_avatar(other);
  fs::copy_file(whole / "full_imgs" / file_name(0), whole / "full_imgs" / file_name(4),
                fs::copy_options::overwrite_existing);
  const AvatarInfo info = import(whole, base / "once");
  CHECK(info.frames == 6);
  CHECK_FALSE(info.loop);
  CHECK(import(whole, base / "round", true).loop);
}

TEST_CASE("an import names the file and the entry that is wrong, and leaves nothing behind") {
  const tests::TemporaryDirectory base;
  const fs::path folder = copied_avatar(base);
  const auto refused = [&](const std::string& what) {
    CHECK_THROWS_WITH(import(folder, base / "out"), Catch::Contains(what));
    CHECK_FALSE(fs::exists(base / "out"));
    CHECK_FALSE(fs::exists(base / "out.partial"));
  };
  SECTION("no folder") {
    CHECK_THROWS_WITH(import(base / "no", base / "out"), Catch::Contains("no such folder"));
  }
  SECTION("a file is missing") {
    for (const char* name : {"full_imgs", "mask", "coords.pkl", "mask_coords.pkl", "latents.pt"}) {
      fs::rename(folder / name, base / "away");
      refused(std::string("it has no ") + name);
      fs::rename(base / "away", folder / name);
    }
  }
  SECTION("an avatar for Wav2Lip") {
    fs::remove(folder / "latents.pt");
    fs::create_directory(folder / "face_imgs");
    refused("an avatar for Wav2Lip");
  }
  SECTION("a picture is damaged") {
    fs::resize_file(folder / "full_imgs" / file_name(1), 300);
    refused("full_imgs/00000001.png");
  }
  SECTION("a picture has another size") {
    fs::copy_file(folder / "mask" / file_name(1), folder / "full_imgs" / file_name(1),
                  fs::copy_options::overwrite_existing);
    refused("full_imgs/00000001.png: is ");
  }
  SECTION("a mask has another size than its box") {
    fs::copy_file(folder / "mask" / file_name(2), folder / "mask" / file_name(0),
                  fs::copy_options::overwrite_existing);
    refused("mask/00000000.png: is ");
  }
  SECTION("boxes are cut") {
    fs::resize_file(folder / "coords.pkl", 40);
    refused("coords.pkl");
  }
  SECTION("a box is empty, or no box") {
    write_small_boxes(folder / "coords.pkl", {{1, 1, 20, 20}, {9, 9, 9, 12}});
    refused("coords.pkl: entry 1 is an empty box");
    write_small_boxes(folder / "coords.pkl", {{1, 1, 20, 20}, {9, 9, 12}});
    refused("coords.pkl: entry 1 is not [x1, y1, x2, y2]");
    write_small_boxes(folder / "coords.pkl", {{0, 0, 0, 0}});
    refused("coords.pkl: entry 0 says that the frame has no face");
  }
  SECTION("a box lies outside of its mask's") {
    write_small_boxes(folder / "mask_coords.pkl", std::vector(6, std::vector{1, 1, 20, 20}));
    refused("mask_coords.pkl: entry 0 does not surround");
  }
  SECTION("latents are another file") {
    fs::copy_file(folder / "coords.pkl", folder / "latents.pt",
                  fs::copy_options::overwrite_existing);
    refused("latents.pt");
  }
}
