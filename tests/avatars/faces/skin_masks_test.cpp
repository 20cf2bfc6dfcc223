#include "avatars/faces/skin_masks.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "tests/avatars/drawn_face.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

struct Colour {
  int blue = 0, green = 0, red = 0;
};

constexpr Colour k_skin{140, 170, 215}, k_shadow{95, 120, 155}, k_lips{100, 90, 190},
    k_hair{40, 50, 60}, k_grey{150, 150, 150}, k_silver{230, 225, 220};

// In a box of 200x260 whose corner is at (100, 80): a face that is narrower than the box, one half in shadow, its mouth open, hair
// over one cheek and an earring beside the other.
constexpr Box k_portrait_face{100, 80, 300, 340};

Image portrait(const Colour& jaw = k_skin) {
  Image picture(400, 420);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const auto within = [&](int centre_x, int centre_y, double width, double height) {
        return std::hypot((x - centre_x) / width, (y - centre_y) / height) < 1;
      };
      Colour colour = k_grey;
      if (within(200, 200, 72, 135)) colour = x < 200 ? k_skin : k_shadow;
      if (within(200, 200, 72, 135) && y > 255) colour = jaw;
      if (within(200, 275, 30, 14)) colour = k_lips;
      if (std::abs(x - 118) < 12 && y < 330) colour = k_silver;
      if (x > 245 && x < 285 && y < 300) colour = k_hair;
      std::uint8_t* pixel = picture.view().at(x, y);
      pixel[0] = static_cast<std::uint8_t>(colour.blue);
      pixel[1] = static_cast<std::uint8_t>(colour.green);
      pixel[2] = static_cast<std::uint8_t>(colour.red);
    }
  return picture;
}

// Of a pixel of the picture.
int mask_value(const FaceMask& mask, int x, int y) {
  const int column = x - mask.crop_box.x1 - mask.region.x1;
  const int row = y - mask.crop_box.y1 - mask.region.y1;
  if (column < 0 || row < 0 || column >= mask.region.width() || row >= mask.region.height())
    return 0;
  return *mask.pixels.view().at(column, row);
}

}  // namespace

TEST_CASE("the mask by colours takes skin and mouth, and leaves hair, earring and background") {
  const Image picture = portrait();
  const FaceMask mask = SkinMasks().mask(picture.view(), k_portrait_face);
  CHECK(mask.crop_box == crop_box_of(k_portrait_face));
  CHECK(mask_value(mask, 165, 250) > 230);  // a cheek
  CHECK(mask_value(mask, 222, 250) > 200);  // the other one, in shadow
  CHECK(mask_value(mask, 200, 275) > 250);  // the mouth, which has other colours
  CHECK(mask_value(mask, 200, 305) > 230);  // the chin
  CHECK(mask_value(mask, 118, 240) < 20);   // the earring
  CHECK(mask_value(mask, 270, 240) < 30);   // the hair
  CHECK(mask_value(mask, 285, 250) < 5);    // the background
  CHECK(mask_value(mask, 200, 150) == 0);   // the upper face
  const FaceMask ellipse = lower_face_mask(k_portrait_face);
  CHECK(mask_value(ellipse, 118, 240) > 50);
  CHECK(mask_value(ellipse, 270, 240) > 200);
  CHECK(SkinMasks().mask(picture.view(), k_portrait_face).pixels == mask.pixels);
}

TEST_CASE("a beard is part of the face") {
  const FaceMask mask = SkinMasks().mask(portrait({30, 45, 70}).view(), k_portrait_face);
  CHECK(mask_value(mask, 155, 280) > 200);
  CHECK(mask_value(mask, 200, 315) > 200);
  CHECK(mask_value(mask, 118, 280) < 5);
}

TEST_CASE("the mouth is in the mask whatever the colours are") {
  const Image grey = tests::draw(400, 420, {});
  CHECK(mask_value(SkinMasks().mask(grey.view(), k_portrait_face), 200, 275) > 250);
  Image noise(64, 64);
  for (std::size_t i = 0; i < noise.pixels.size(); ++i)
    noise.pixels[i] = static_cast<std::uint8_t>(i * i * 2654435761U >> 11U);
  for (const Box& box : {Box{0, 0, 64, 64}, Box{0, 0, 8, 8}, Box{30, 10, 64, 20}, Box{0, 0, 64, 8}})
    CHECK(mask_value(SkinMasks().mask(noise.view(), box), (box.x1 + box.x2) / 2,
                     box.y1 + box.height() * 3 / 4) > 100);
}

TEST_CASE("an avatar tells that its masks come from the colours of skin") {
  const tests::TemporaryDirectory base;
  tests::write_clip(base / "ada.mp4", {portrait(), portrait()});
  prepare({.source = base / "ada.mp4",
           .output = base / "ada",
           .id = {},
           .faces = std::make_shared<GivenFaces>(k_portrait_face),
           .masks = std::make_shared<SkinMasks>(),
           .latents = std::nullopt},
          {}, {});
  const Bundle bundle = Bundle::open(base / "ada");
  CHECK(bundle.info().mask_source == "skin");
  CHECK(bundle.face(1).has_value());
}
