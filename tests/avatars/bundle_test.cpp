// A bundle is opened only when all of its files fit together.
#include "avatars/bundle/bundle.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>

#include "avatars/bundle/mask_file.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "core/checkpoint/safetensors_writer.h"
#include "tests/avatars/drawn_face.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
namespace fs = std::filesystem;

namespace {

using tests::k_box;

void make_bundle(const fs::path& folder, int frames = 6) {
  tests::write_clip(folder.string() + ".mp4", tests::moving_face(frames));
  prepare({.source = fs::path(folder.string() + ".mp4"),
           .output = folder,
           .id = "ada",
           .faces = std::make_shared<GivenFaces>(k_box),
           .latents = std::nullopt},
          {}, {});
}

void rewrite_info(const fs::path& folder, const std::function<void(AvatarInfo&)>& change) {
  AvatarInfo info = read_avatar_info(folder / "avatar.json");
  change(info);
  write_avatar_info(folder / "avatar.json", info);
}

}  // namespace

TEST_CASE("a folder that is not an avatar, or is not there, is not found") {
  const tests::TemporaryDirectory base;
  for (const fs::path& path : {base.path(), base / "absent"}) {
    try {
      Bundle::open(path);
      FAIL("it was opened");
    } catch (const Error& error) {
      CHECK(error.code() == Code::not_found);
      CHECK_THAT(error.message(), Catch::Contains("is not an avatar"));
    }
  }
}

TEST_CASE("an avatar's pictures keep the limits of media") {
  const tests::TemporaryDirectory base;
  make_bundle(base / "ada", 25);
  const AvatarInfo info = read_avatar_info(base / "ada/avatar.json");
  const std::int64_t pixels = std::int64_t{info.width} * info.height;
  CHECK_NOTHROW(Bundle::open(base / "ada", {.max_pixels = pixels, .max_duration_s = 1}));
  CHECK_THROWS_WITH(Bundle::open(base / "ada", {.max_pixels = pixels - 1}),
                    Catch::Contains("frames.mp4") && Catch::Contains("media.max_megapixels"));
  CHECK_THROWS_WITH(Bundle::open(base / "ada", {.max_duration_s = 0.5}),
                    Catch::Contains("frames.mp4") && Catch::Contains("media.max_duration_s"));
}

TEST_CASE("each file that is missing is named") {
  const tests::TemporaryDirectory base;
  make_bundle(base / "ada");
  for (const char* file : {"frames.mp4", "faces.json", "masks.safetensors"}) {
    fs::rename(base / "ada" / file, base / "away");
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains(file));
    fs::rename(base / "away", base / "ada" / file);
  }
  CHECK(Bundle::open(base / "ada").frame_count() == 6);
}

TEST_CASE("each file that is cut short is named") {
  const tests::TemporaryDirectory base;
  make_bundle(base / "ada");
  for (const char* file : {"frames.mp4", "faces.json", "masks.safetensors", "avatar.json"}) {
    fs::copy_file(base / "ada" / file, base / "whole");
    fs::resize_file(base / "ada" / file, fs::file_size(base / "whole") * 3 / 4);
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains(file));
    fs::rename(base / "whole", base / "ada" / file);
  }
}

TEST_CASE("files that disagree are refused") {
  const tests::TemporaryDirectory base;
  make_bundle(base / "ada");
  SECTION("another number of frames in the video") {
    make_bundle(base / "bob", 7);
    fs::copy_file(base / "bob/frames.mp4", base / "ada/frames.mp4",
                  fs::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("holds 7 frames"));
  }
  SECTION("another size") {
    rewrite_info(base / "ada", [](AvatarInfo& info) { info.width = 162; });
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("160x120, the avatar 162x120"));
  }
  SECTION("another number of faceless frames") {
    rewrite_info(base / "ada", [](AvatarInfo& info) { info.faceless_frames = 1; });
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("faceless_frames"));
  }
  SECTION("a mask of another size") {
    write_masks(base / "ada/masks.safetensors", std::vector{Image(4, 4, 1)});
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("tensor \"0\" must be U8"));
  }
  SECTION("a mask that is not there") {
    write_masks(base / "ada/masks.safetensors", std::vector<Image>{});
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("tensor \"0\" is missing"));
  }
  SECTION("latents that are promised and not there") {
    rewrite_info(base / "ada",
                 [](AvatarInfo& info) { info.model_checksum = std::string(64, '0'); });
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("latents.safetensors"));
  }
  SECTION("latents of another shape") {
    rewrite_info(base / "ada",
                 [](AvatarInfo& info) { info.model_checksum = std::string(64, '0'); });
    const std::vector<float> few(5 * 8 * 32 * 32);
    SafetensorsWriter writer;
    writer.add("latents", DType::f32, {5, 8, 32, 32}, std::as_bytes(std::span(few)));
    writer.write(base / "ada/latents.safetensors");
    CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("must be F32 [6, 8, 32, 32]"));
  }
}

TEST_CASE("a video that names other files or other formats is not followed") {
  const tests::TemporaryDirectory base;
  make_bundle(base / "ada");
  std::ofstream(base / "ada/frames.mp4", std::ios::trunc)
      << "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/hostname\n";
  CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("frames.mp4"));
}
