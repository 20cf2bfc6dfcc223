#include "avatars/faces/shape_faces.h"

#include <catch2/catch.hpp>
#include <numbers>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/face_smoothing.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "core/files/data_directory.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/faces/shape_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

// The 68 points of a face that fills the frame, its nose at `nose` of the width.
Shape2d face_shape(float nose) {
  Shape2d points;
  for (int i = 0; i < 68; ++i) {
    const auto number = static_cast<float>(i);
    if (i <= 16)  // the jaw
      points.push_back(
          {0.1F + number * 0.05F,
           0.4F + 0.5F * static_cast<float>(std::sin(double{number} * std::numbers::pi / 16))});
    else if (i >= 27 && i <= 30)
      points.push_back({nose, 0.4F + (number - 27) * 0.05F});
    else
      points.push_back({nose, i >= 48 ? 0.7F : i >= 36 ? 0.35F : 0.3F});
  }
  return points;
}

// Gives the mean shape, whatever it sees.
fs::path fixed_predictor(const fs::path& file, const Shape2d& shape) {
  const Shape2d still(shape.size());
  return tests::write_shape_file(
      file,
      tests::shape_bytes(
          shape, {{.trees = {{.one = 0, .other = 0, .threshold = 0, .left = still, .right = still}},
                   .probes = {{.point = 0, .offset = {}}}}}));
}

struct FaceClip {
  TemporaryDirectory base;
  std::unique_ptr<Clip> clip;
  explicit FaceClip(const std::vector<Image>& frames) {
    tests::write_clip(base / "in.mp4", frames);
    clip = std::make_unique<Clip>(base / "in.mp4", frames[0].width, frames[0].height);
  }
  FaceBoxes boxes(FaceSource& source) const { return source.find(*clip, 25, {}, {}, {}); }
};

}  // namespace

TEST_CASE("the built-in finder's boxes are MuseTalk's, of the predictor's points") {
  const FaceClip moving(tests::moving_face(6));
  const auto file = fixed_predictor(moving.base / "p.dat", face_shape(0.5F));
  ShapeFaces raw(file, {.smooth = false}, {.bbox_shift = 2, .extra_margin = 5});
  const FaceBoxes boxes = moving.boxes(raw);
  const auto points = raw.landmarks();
  const FollowedFace followed =
      follow_by_cascades(*moving.clip, 25, 0, cascade_directories(), {}, {}, {});
  const auto squares = smooth_faces(followed.boxes, 25);
  REQUIRE(boxes.size() == 6);
  REQUIRE(points.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    REQUIRE(boxes[i]);
    const FaceSquare square = squares[i].value();
    // The shape's jaw goes from 0.1 to 0.9 of 0.94 of the square's side.
    const double left = square.centre_x - 0.47 * square.size;
    CHECK(std::abs(boxes[i]->x1 - (left + 0.094 * square.size)) <= 1.01);
    CHECK(std::abs(boxes[i]->x2 - (left + 0.846 * square.size)) <= 1.01);
    const double chin = square.centre_y - 0.4 * square.size + 0.846 * square.size;
    CHECK(std::abs(boxes[i]->y2 - (chin + 5)) <= 1.01);
    CHECK(boxes[i] == landmark_box(points[i], {}, {.bbox_shift = 2, .extra_margin = 5}, 160, 120));
  }
  CHECK(raw.name() == "dlib");
}

TEST_CASE("the built-in finder's boxes of landmarks are smoothed over time") {
  std::vector<std::optional<Box>> jumping;
  for (int i = 0; i < 50; ++i) {
    const int jump = i % 2 * 3;
    jumping.push_back(Box{100 + i + jump, 50 - jump, 300 + i - jump, 330 + jump});
  }
  jumping[20].reset();
  const auto smooth = smooth_boxes(jumping, 25);
  for (std::size_t i = 0; i < 50; ++i) {
    CAPTURE(i);
    REQUIRE(smooth[i]);
    const auto at = static_cast<int>(i);
    CHECK(std::abs(smooth[i]->x1 - (101 + at)) <= 2);
    CHECK(std::abs(smooth[i]->x2 - (299 + at)) <= 2);
    CHECK(std::abs(smooth[i]->y1 - 49) <= 1);
    CHECK(std::abs(smooth[i]->y2 - 331) <= 1);
  }
}

TEST_CASE("a chin that moves is followed by smoothed boxes") {
  std::vector<std::optional<Box>> speaking;
  for (int i = 0; i < 50; ++i) {  // opens and closes within 0.4 s, by 12 % of the height
    const auto open =
        static_cast<int>(std::lround(15 * (1 - std::cos(i * 2 * std::numbers::pi / 10))));
    speaking.push_back(Box{100, 50, 300, 300 + open});
  }
  const auto smooth = smooth_boxes(speaking, 25);
  for (std::size_t i = 5; i < 45; ++i) {
    CAPTURE(i);
    CHECK(std::abs(smooth[i]->y2 - speaking[i]->y2) <= 8);
  }
}

TEST_CASE(
    "a face that looks aside has no box by the built-in finder, and one that went astray neither") {
  const FaceClip moving(tests::moving_face(3));
  ShapeFaces aside(fixed_predictor(moving.base / "aside.dat", face_shape(0.92F)));
  CHECK_THROWS_WITH(moving.boxes(aside),
                    Catch::Contains("no face was found that looks at the camera"));
  Shape2d far = face_shape(0.5F);
  for (ShapePoint& point : far) point.x += 0.7F;
  ShapeFaces astray(fixed_predictor(moving.base / "far.dat", far));
  CHECK_THROWS_WITH(moving.boxes(astray),
                    Catch::Contains("no face was found that looks at the camera"));
}

TEST_CASE("predictors of other points than a face's are refused, and others give other boxes") {
  const TemporaryDirectory base;
  CHECK_THROWS_WITH(ShapeFaces(fixed_predictor(base / "five.dat", Shape2d(5, {0.5F, 0.25F}))),
                    Catch::Contains("five.dat") && Catch::Contains("5 points"));
  CHECK_THROWS_AS(ShapeFaces(base / "none.dat"), Error);
  const auto one = fixed_predictor(base / "one.dat", face_shape(0.5F));
  const auto other = fixed_predictor(base / "other.dat", face_shape(0.45F));
  const std::string own = ShapeFaces(one).identity();
  CHECK(own == ShapeFaces(one).identity());
  CHECK(own != ShapeFaces(other).identity());
  CHECK(own != ShapeFaces(one, {.smooth = false}).identity());
  CHECK(own != ShapeFaces(one, {.face = 2}).identity());
  CHECK(own != ShapeFaces(one, {}, {.bbox_shift = 1}).identity());
}

TEST_CASE("a face with glasses is found, in a square like that of other faces") {
  // The three cascades of frontal faces do not see this one; the fourth has smaller squares.
  const TemporaryDirectory base;
  const Bundle demo = Bundle::open(data_directory() / "demo/avatars/theo");
  const Image picture = demo.frame(0);
  tests::write_clip(base / "in.mp4", {picture, picture});
  Clip clip(base / "in.mp4", picture.width, picture.height);
  const FollowedFace followed = follow_by_cascades(clip, 25, 0, cascade_directories(), {}, {}, {});
  const Box seen = followed.boxes[0].value(), whole = demo.face(0)->placement.box;
  CAPTURE(seen.x1, seen.y1, seen.x2, seen.y2);
  CHECK(seen.width() > 0.85 * whole.width());
  CHECK(seen.width() < 1.1 * whole.width());
  CHECK(std::abs((seen.x1 + seen.x2) - (whole.x1 + whole.x2)) < 0.2 * whole.width());
  // As high as it is wide, its middle at the bridge of the nose, above that of a box that ends at the chin.
  CHECK((seen.y1 + seen.y2) / 2 < (whole.y1 + whole.y2) / 2);
}

TEST_CASE("an avatar by the installed predictor has landmarks where the eyes are") {
  const auto installed = installed_shape_predictor();
  if (!installed) {
    WARN("libdlib-data is not installed");
    return;
  }
  const TemporaryDirectory base;
  const Bundle demo = Bundle::open(data_directory() / "demo/avatars/ada");
  tests::write_clip(base / "in.mp4", {demo.frame(0), demo.frame(0)});
  const AvatarInfo info = prepare({.source = base / "in.mp4",
                                   .output = base / "ada",
                                   .id = {},
                                   .faces = std::make_shared<ShapeFaces>(*installed),
                                   .latents = std::nullopt},
                                  {}, {});
  CHECK(info.face_source == "dlib");
  const Bundle bundle = Bundle::open(base / "ada");
  const FacePoints points = bundle.face(0)->landmarks;
  REQUIRE(points.size() == 68);
  // The demo's own box goes from above the brows to below the chin; what is found lies in it, and about its middle.
  const Box whole = demo.face(0)->placement.box, found = bundle.face(0)->placement.box;
  CHECK(std::abs((found.x1 + found.x2) - (whole.x1 + whole.x2)) < 0.06 * whole.width());
  CHECK(found.width() > 0.65 * whole.width());
  CHECK(found.y2 <= whole.y2);
  CHECK(points[8].y > points[57].y);  // chin, lips, nose, eyes, from below
  CHECK(points[57].y > points[33].y);
  CHECK(points[33].y > points[41].y);
}
