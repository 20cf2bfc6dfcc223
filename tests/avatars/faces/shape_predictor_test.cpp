#include "avatars/faces/shape_predictor.h"

#include <catch2/catch.hpp>

#include "core/base/error.h"
#include "tests/avatars/faces/shape_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;
using tests::TestLevel;

namespace {

const Shape2d k_mean{{0.25F, 0.5F}, {0.75F, 0.5F}, {0.5F, 0.75F}};

Shape2d moved(float x, float y) { return Shape2d(k_mean.size(), {x, y}); }

// Looks whether the picture is brighter at the first point than at the second, and moves every point to the brighter side.
TestLevel to_the_brighter_side() {
  return {.trees = {{.one = 0,
                     .other = 1,
                     .threshold = 20,
                     .left = moved(-0.125F, 0),
                     .right = moved(0.125F, 0)}},
          .probes = {{.point = 0, .offset = {}}, {.point = 1, .offset = {}}}};
}

ShapePredictor predictor(const std::vector<TestLevel>& levels, const Shape2d& mean = k_mean) {
  const TemporaryDirectory base;
  return ShapePredictor::read(
      tests::write_shape_file(base / "p.dat", tests::shape_bytes(mean, levels)));
}

// 100x100, `brightness` at the left half, 100 at the right one.
Image halves(std::uint8_t brightness) {
  Image picture(100, 100);
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 100; ++x)
      for (int c = 0; c < 3; ++c)
        picture.pixels[static_cast<std::size_t>((y * 100 + x) * 3 + c)] = x < 50 ? brightness : 100;
  return picture;
}

void check_points(const Shape2d& points, const std::vector<std::pair<double, double>>& expected) {
  REQUIRE(points.size() == expected.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    CAPTURE(i);
    CHECK(double{points[i].x} == Approx(expected[i].first));
    CHECK(double{points[i].y} == Approx(expected[i].second));
  }
}

std::string refusal(const std::string& bytes) {
  const TemporaryDirectory base;
  try {
    ShapePredictor::read(tests::write_shape_file(base / "wrong.dat", bytes));
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a shape predictor moves its points by the brightness of pixels") {
  const ShapePredictor small = predictor({to_the_brighter_side()});
  // The frame is 80 pixels from (10, 0): the points lie at (30, 40), (70, 40) and (50, 60), and move by 10.
  const ShapeFrame frame{.x = 10, .y = 0, .size = 80};
  check_points(small.points(halves(121).view(), frame), {{20, 40}, {60, 40}, {40, 60}});
  check_points(small.points(halves(120).view(), frame), {{40, 40}, {80, 40}, {60, 60}});
  // Outside of the picture it is dark.
  check_points(small.points(halves(200).view(), {.x = 1000, .y = 0, .size = 80}),
               {{1030, 40}, {1070, 40}, {1050, 60}});
}

TEST_CASE("the pixels of a later level turn and grow with the shape") {
  // The first level turns the shape by a right angle and doubles it, whatever it sees.
  TestLevel turn = to_the_brighter_side();
  const Shape2d turned{{0.5F, 0.0F}, {0.5F, 1.0F}, {0.0F, 0.5F}};
  Shape2d step = turned;
  for (std::size_t i = 0; i < step.size(); ++i) {
    step[i].x -= k_mean[i].x;
    step[i].y -= k_mean[i].y;
  }
  turn.trees[0].left = turn.trees[0].right = step;
  // The second looks 0.25 to the right of the second point of the mean shape, which is 0.5 below it now: (0.5, 1.5) of the frame, beside
  // one at (0.5, 1.0).
  TestLevel look = to_the_brighter_side();
  look.probes = {{.point = 1, .offset = {0.25F, 0}}, {.point = 1, .offset = {}}};
  const ShapePredictor two = predictor({turn, look});
  Image picture(100, 100);
  const auto points = [&] { return two.points(picture.view(), {.x = 0, .y = 0, .size = 60}); };
  check_points(points(), {{37.5, 0}, {37.5, 60}, {7.5, 30}});
  for (int c = 0; c < 3; ++c)
    picture.pixels[static_cast<std::size_t>((90 * 100 + 30) * 3 + c)] = 255;
  check_points(points(), {{22.5, 0}, {22.5, 60}, {-7.5, 30}});
}

TEST_CASE("the frame of a shape predictor's points is where they were looked for") {
  const ShapePredictor small = predictor({to_the_brighter_side()});
  const ShapeFrame frame{.x = 10, .y = -4, .size = 80};
  // The shape moved by an eighth of the frame.
  const ShapeFrame again = small.frame_of(small.points(halves(200).view(), frame));
  CHECK(again.x == Approx(0).margin(1e-4));
  CHECK(again.y == Approx(-4));
  CHECK(again.size == Approx(80));
}

TEST_CASE("files that are no shape predictors are refused") {
  const std::string good = tests::shape_bytes(k_mean, {to_the_brighter_side()});
  CHECK(refusal(good).empty());
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK_THAT(refusal(good.substr(0, length)), Catch::Contains("wrong.dat"));
  }
  CHECK_THAT(refusal(good + "x"), Catch::Contains("more behind its end"));
  CHECK_THAT(refusal("\x01\x02" + good.substr(2)), Catch::Contains("version"));
  CHECK_THAT(refusal("\x09" + good.substr(1)), Catch::Contains("a number of 9 bytes"));

  TestLevel level = to_the_brighter_side();
  level.trees[0].one = 2;
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {level})), Catch::Contains("pixel 2 of 2"));
  level.trees[0].one = -1;
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {level})), Catch::Contains("pixel -1"));
  level = to_the_brighter_side();
  level.probes[1].point = 3;
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {level})), Catch::Contains("point 3 of 3"));
  level = to_the_brighter_side();
  level.trees[0].left.pop_back();
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {level})), Catch::Contains("a leaf is 4x1"));
  level = to_the_brighter_side();
  level.trees.clear();
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {level})), Catch::Contains("0 trees"));
  CHECK_THAT(refusal(tests::shape_bytes({}, {to_the_brighter_side()})),
             Catch::Contains("the mean shape is 0x1"));
  CHECK_THAT(refusal(tests::shape_bytes(k_mean, {})), Catch::Contains("0 levels"));
}
