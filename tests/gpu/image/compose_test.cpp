#include <catch2/catch.hpp>

#include "core/base/error.h"
#include "gpu/image/compose.h"
#include "tests/gpu/image/noise.h"

namespace navtalk {
namespace {

constexpr Placement k_placement{{20, 30, 90, 110}, {-5, 10, 115, 130}};

}  // namespace

TEST_CASE("a mask cropped to its region composes as the whole mask does") {
  const bool sharpen = GENERATE(false, true);
  const Box region = GENERATE(Box{0, 60, 120, 120}, Box{31, 47, 90, 88}, Box{60, 60, 61, 61});
  const auto unsharp = sharpen ? std::optional(Unsharp{}) : std::nullopt;
  Image whole(120, 120, 1);
  Image cropped = noise(31, region.width(), region.height(), 1);
  for (int y = 0; y < region.height(); ++y)
    std::copy_n(cropped.view().row(y), region.width(), whole.view().at(region.x1, region.y1 + y));
  Image face = noise(32, 256, 256), frame = noise(33, 100, 120), other = frame;
  compose(frame.view(), face.view(), k_placement, whole.view(), std::nullopt, {.unsharp = unsharp});
  compose(other.view(), face.view(), k_placement, cropped.view(), region, {.unsharp = unsharp});
  CHECK(frame == other);
}

TEST_CASE("nothing outside the face box changes") {
  Image face = noise(34, 256, 256), frame = noise(35, 100, 120), mask(120, 120, 1);
  std::fill(mask.pixels.begin(), mask.pixels.end(), std::uint8_t{255});
  const Image before = frame;
  compose(frame.view(), face.view(), k_placement, mask.view());
  int changed = 0;
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 100; ++x) {
      const bool inside = x >= 20 && x < 90 && y >= 30 && y < 110;
      const bool same =
          std::equal(frame.view().at(x, y), frame.view().at(x, y) + 3, before.view().at(x, y));
      if (!inside) REQUIRE(same);
      changed += !same;
    }
  CHECK(changed > 70 * 80 / 2);
}

TEST_CASE("a frame that is a part of a larger picture is composed in place") {
  Image face = noise(36, 256, 256), mask = noise(37, 120, 120, 1);
  Image large = noise(38, 200, 160), frame(100, 120);
  const ImageView part = large.view().crop({50, 20, 150, 140});
  for (int y = 0; y < 120; ++y) std::copy_n(part.row(y), 300, frame.view().row(y));
  compose(part, face.view(), k_placement, mask.view());
  compose(frame.view(), face.view(), k_placement, mask.view());
  for (int y = 0; y < 120; ++y)
    REQUIRE(std::equal(part.row(y), part.row(y) + 300, frame.view().row(y)));
}

TEST_CASE("a box beyond the frame changes nothing") {
  Image face = noise(39, 256, 256), mask = noise(40, 30, 30, 1), frame = noise(41, 50, 40);
  const Image before = frame;
  compose(frame.view(), face.view(), {{60, 5, 80, 25}, {55, 0, 85, 30}}, mask.view());
  CHECK(frame == before);
}

TEST_CASE("a mask that does not fit its region is refused with both sizes") {
  Image face = noise(42, 256, 256), mask(119, 120, 1), frame(100, 120);
  try {
    compose(frame.view(), face.view(), k_placement, mask.view());
    FAIL("composed with a mask of the wrong size");
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    CHECK(error.message() ==
          "the mask is 119x120 with 1 channel(s), its region of the crop box 120x120 with one; "
          "prepare the avatar again");
  }
}

}  // namespace navtalk
