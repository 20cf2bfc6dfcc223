#include "avatars/faces/parsed_masks.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "tests/avatars/drawn_face.h"
#include "tests/gpu/model/bisenet_file.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;

namespace {

std::uint32_t crc_of(const Image& image) {
  boost::crc_32_type crc;
  crc.process_bytes(image.pixels.data(), image.pixels.size());
  return crc.checksum();
}

// A face with a nose, an open mouth, a neck and hair over one cheek, and specks of skin elsewhere.
int part_at(int x, int y) {
  const auto inside = [&](double width, double height, int centre) {
    const double u = (x - 256) / width, v = (y - centre) / height;
    return u * u + v * v < 1;
  };
  if ((x * 7 + y * 3) % 5003 == 0) return 1;
  if (x < 140 && y < 300) return 17;
  if (std::abs(x - 256) < 90 && y > 465) return 14;
  if (std::abs(x - 256) < 60 && y > 375 && y < 390) return 13;
  if (std::abs(x - 256) < 60 && y > 330 && y < 345) return 12;
  if (inside(60, 25, 360)) return 11;
  if (inside(30, 50, 250)) return 10;
  return inside(170, 210, 250) ? 1 : 0;
}

Image parsed_face() {
  Image parts(k_parsing_size, k_parsing_size, 1);
  for (int y = 0; y < k_parsing_size; ++y)
    for (int x = 0; x < k_parsing_size; ++x)
      *parts.view().at(x, y) = static_cast<std::uint8_t>(part_at(x, y));
  return parts;
}

PrepareOptions still(const TemporaryDirectory& base, const char* name) {
  tests::write_clip(base / "in.mp4", tests::moving_face(4));
  return {.source = base / "in.mp4",
          .output = base / name,
          .id = {},
          .faces = std::make_shared<GivenFaces>(tests::k_box),
          .latents = std::nullopt};
}

}  // namespace

TEST_CASE("the mask of a parsed face is MuseTalk's in every mode, bit for bit") {
  const Image parts = parsed_face();
  REQUIRE(crc_of(parts) == 1041802290U);
  CHECK(crc_of(parsing_mask(parts.view(), {})) == 3529411914U);
  CHECK(crc_of(parsing_mask(parts.view(), {.left_cheek_width = 80, .right_cheek_width = 120})) ==
        409162940U);
  CHECK(crc_of(parsing_mask(parts.view(), {.mode = ParsingMode::raw})) == 2887099975U);
  CHECK(crc_of(parsing_mask(parts.view(), {.mode = ParsingMode::neck})) == 1446879330U);
}

TEST_CASE("a mask from face parsing lies in the lower half of the face box, with a soft edge") {
  const TemporaryDirectory base;
  ParsedMasks masks(tests::write_bisenet(base / "models", 1), {.mode = ParsingMode::raw});
  CHECK(masks.name() == "musetalk-raw");
  const Image frame(160, 120);
  const Box box{60, 20, 100, 70};  // its crop reaches above the frame
  const FaceMask mask = masks.mask(frame.view(), box);
  CHECK(mask.crop_box == crop_box_of(box));
  const Box region = mask.region.moved(mask.crop_box.x1, mask.crop_box.y1);
  CHECK(intersection(region, box) == region);
  const int middle = (mask.crop_box.y1 + mask.crop_box.y2) / 2;
  CHECK(region.y1 >= middle - mask.crop_box.width() / 20);
  CHECK(region.y2 == box.y2);
  const auto [least, most] = std::ranges::minmax(mask.pixels.pixels);
  CHECK(most == 255);
  CHECK(least < 255);
}

TEST_CASE("several faces that are parsed together have the masks of each alone") {
  const TemporaryDirectory base;
  const auto weights = tests::write_bisenet(base / "models", 1);
  ParsedMasks alone(weights, {}), together(weights, {}, {.batch = 4});
  CHECK(alone.batch() == 1);
  CHECK(together.batch() == 4);
  CHECK(together.identity() != alone.identity());
  const std::vector<Image> frames = tests::moving_face(3);
  std::vector<FaceInFrame> faces;
  for (int i = 0; i < 3; ++i)
    faces.push_back(
        {frames[static_cast<std::size_t>(i)].view(), {50 + 9 * i, 30, 110 + 4 * i, 90}});
  const std::vector<FaceMask> masks = together.masks(faces);
  REQUIRE(masks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const FaceMask one = alone.mask(faces[i].frame, faces[i].box);
    CHECK(masks[i].region == one.region);
    CHECK(masks[i].pixels == one.pixels);
  }
}

TEST_CASE("an avatar with face parsing has a mask of its own in every frame, and says so") {
  const TemporaryDirectory base;
  PrepareOptions what = still(base, "ada");
  what.masks =
      std::make_shared<ParsedMasks>(tests::write_bisenet(base / "models", 1), ParsingOptions{});
  const AvatarInfo info = prepare(what, {}, {});
  CHECK(info.mask_source == "musetalk-jaw");
  const Bundle bundle = Bundle::open(base / "ada");
  CHECK(bundle.info().mask_source == "musetalk-jaw");
  CHECK(bundle.face(0)->mask == 0);
  CHECK(bundle.face(3)->mask == 3);
}

TEST_CASE("an avatar without face parsing has the ellipse for a mask") {
  const TemporaryDirectory base;
  CHECK(prepare(still(base, "ada"), {}, {}).mask_source == "ellipse");
}

TEST_CASE("a clip in which the face parsing sees no face is refused") {
  const TemporaryDirectory base;
  PrepareOptions what = still(base, "ada");
  what.masks = std::make_shared<ParsedMasks>(tests::write_bisenet(base / "models", 0),
                                             ParsingOptions{.mode = ParsingMode::raw});
  CHECK_THROWS_WITH(prepare(what, {}, {}), Catch::Contains("finds no part of a face"));
  CHECK_FALSE(std::filesystem::exists(base / "ada"));
}

TEST_CASE("a face parsing that lacks a tensor is refused by name") {
  const TemporaryDirectory base;
  const auto file = tests::write_bisenet(base / "models", 1, "cp.conv_avg.conv.weight");
  CHECK_THROWS_WITH(ParsedMasks(file, {}), Catch::Contains("cp.conv_avg.conv.weight"));
}
