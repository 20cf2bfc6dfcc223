#include "avatars/faces/mask.h"

#include <catch2/catch.hpp>

using navtalk::Box;
using navtalk::crop_box_of;
using navtalk::FaceMask;
using navtalk::lower_face_mask;

namespace {

// The mask's value at a pixel of the frame; zero outside the region.
int value_at(const FaceMask& mask, int x, int y) {
  const int column = x - mask.crop_box.x1 - mask.region.x1;
  const int row = y - mask.crop_box.y1 - mask.region.y1;
  if (column < 0 || row < 0 || column >= mask.pixels.width || row >= mask.pixels.height) return 0;
  return *mask.pixels.view().at(column, row);
}

}  // namespace

TEST_CASE("the crop box is the square of one and a half times the longer half side") {
  CHECK(crop_box_of({100, 50, 200, 190}) == Box{45, 15, 255, 225});
  CHECK(crop_box_of({10, 10, 61, 51}) == Box{-2, -7, 72, 67});  // 25 * 1.5 is cut to 37
}

TEST_CASE("the mask's region lies in the face box") {
  for (const Box face : {Box{100, 50, 200, 190}, Box{0, 0, 8, 8}, Box{3, 7, 204, 120}}) {
    const FaceMask mask = lower_face_mask(face);
    const Box region = mask.region.moved(mask.crop_box.x1, mask.crop_box.y1);
    CHECK(navtalk::intersection(region, face) == region);
    CHECK(mask.pixels.width == region.width());
    CHECK(mask.pixels.height == region.height());
    CHECK(mask.pixels.channels == 1);
  }
}

TEST_CASE("the mask covers the mouth, and of the upper half only what the blur reaches") {
  const Box face{100, 50, 200, 190};
  const FaceMask mask = lower_face_mask(face);
  const int middle = (mask.crop_box.y1 + mask.crop_box.y2) / 2;
  const int reach = mask.crop_box.width() / 20;  // half the blur's width
  CHECK(value_at(mask, 150, 155) == 255);
  int above = 0, below = 0;
  for (int x = face.x1; x < face.x2; ++x) {
    for (int y = face.y1; y < middle - reach; ++y) above += value_at(mask, x, y);
    for (int y = middle; y < face.y2; ++y) below += value_at(mask, x, y);
  }
  CHECK(above == 0);
  CHECK(below > 0);
}

TEST_CASE("the mask fades out before the edge of the face box") {
  const Box face{100, 50, 400, 440};
  const FaceMask mask = lower_face_mask(face);
  int strongest = 0;
  for (int y = face.y1; y < face.y2; ++y)
    strongest = std::max({strongest, value_at(mask, face.x1, y), value_at(mask, face.x2 - 1, y)});
  for (int x = face.x1; x < face.x2; ++x)
    strongest = std::max(strongest, value_at(mask, x, face.y2 - 1));
  CHECK(strongest <= 16);
}

TEST_CASE("boxes of one size have one mask wherever they stand") {
  const FaceMask here = lower_face_mask({100, 51, 201, 190});
  const FaceMask there = lower_face_mask({7, 120, 108, 259});
  CHECK(here.pixels == there.pixels);
  CHECK(here.region == there.region);
}
