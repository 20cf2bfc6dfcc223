#include "gpu/model/pose_points.h"

#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <random>

using namespace navtalk;

namespace {

PoseBins empty_bins() { return {NdArray<float>(Shape{133, 576}), NdArray<float>(Shape{133, 768})}; }

// All bins of one axis, as whole pixels of the picture.
std::uint32_t crc_of_all_bins(bool across, const PoseView& view) {
  const int count = across ? 576 : 768;
  boost::crc_32_type crc;
  for (int first = 0; first < count; first += 133) {
    PoseBins bins = empty_bins();
    for (int i = 0; i < 133; ++i) {
      bins.x.row(i)[across ? std::min(first + i, 575) : 0] = 1;
      bins.y.row(i)[across ? 0 : std::min(first + i, 767)] = 1;
    }
    const auto points = pose_points(bins, view);
    for (int i = 0; i < 133 && first + i < count; ++i) {
      const PosePoint& point = points.at(static_cast<std::size_t>(i));
      const auto pixel = static_cast<std::int32_t>(across ? point.x : point.y);
      crc.process_bytes(&pixel, sizeof pixel);
    }
  }
  return crc.checksum();
}

PoseBins random_bins(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  PoseBins bins = empty_bins();
  for (NdArray<float>* array : {&bins.x, &bins.y})
    for (float& value : array->values) value = normal(random);
  return bins;
}

// What a net without any preference for a side says of the mirrored picture.
PoseBins mirror_of(const PoseBins& bins) {
  PoseBins mirrored = empty_bins();
  for (std::size_t i = 0; i < 133; ++i) {
    const auto from = static_cast<std::int64_t>(mirror_point(i)), to = static_cast<std::int64_t>(i);
    std::reverse_copy(bins.x.row(from), bins.x.row(from) + 576, mirrored.x.row(to));
    std::copy_n(bins.y.row(from), 768, mirrored.y.row(to));
  }
  return mirrored;
}

}  // namespace

TEST_CASE("every bin lies at the pixel that the reference's arithmetic in double gives it") {
  struct Row {
    int width, height;
    std::uint32_t x, y;  // in single precision 52 of the first row's 768 rows are another pixel
  };
  const auto row =
      GENERATE(Row{1280, 720, 217290936U, 1973328504U}, Row{1920, 1080, 103823389U, 869349594U},
               Row{640, 480, 1104272126U, 2915877245U}, Row{333, 500, 29141390U, 1455981773U});
  const PoseView view = pose_view(row.width, row.height);
  CHECK(crc_of_all_bins(true, view) == row.x);
  CHECK(crc_of_all_bins(false, view) == row.y);
}

TEST_CASE("the view is 1.25 times the picture and as wide as 0.75 of its height") {
  const PoseView wide = pose_view(1280, 720), high = pose_view(300, 800);
  CHECK(wide.width == 1600);
  CHECK(wide.height == Approx(1600 / 0.75));
  CHECK(high.height == 1000);
  CHECK(high.width == 750);
  CHECK(high.centre_x == 150);
  CHECK(high.centre_y == 400);
}

TEST_CASE(
    "the best bin is the first of equals, and a point without a positive score lies before it "
    "all") {
  PoseBins bins = empty_bins();
  bins.x.row(0)[40] = bins.x.row(0)[50] = 2;
  bins.y.row(0)[60] = 1;
  const PoseView view = pose_view(576, 768);
  const auto points = pose_points(bins, view);
  CHECK(points[0].score == 1);
  CHECK(points[0].x == Approx(20.0 / 288 * 720 - 72));
  CHECK(points[0].y == Approx(30.0 / 384 * 960 - 96));
  CHECK(points[1].score == 0);
  CHECK(points[1].x == Approx(-0.5 / 288 * 720 - 72));
}

TEST_CASE("points change sides in pairs: 61 of them, 11 points stay") {
  int moved = 0;
  for (std::size_t i = 0; i < 133; ++i) {
    CHECK(mirror_point(mirror_point(i)) == i);
    moved += mirror_point(i) != i ? 1 : 0;
  }
  CHECK(moved == 122);
  CHECK(mirror_point(23) == 39);   // ends of the jaw
  CHECK(mirror_point(52) == 52);   // bridge of the nose
  CHECK(mirror_point(64) == 69);   // below the eyes
  CHECK(mirror_point(91) == 112);  // hands
}

TEST_CASE("the mean with the mirror image of the same scores is those scores") {
  const PoseBins bins = random_bins(1);
  const PoseBins mean = with_mirrored(bins, mirror_of(bins));
  CHECK(mean.x == bins.x);
  CHECK(mean.y == bins.y);
}

TEST_CASE("the mean with a mirror image weighs both alike") {
  const PoseBins a = random_bins(2), b = random_bins(3);
  const PoseBins one = with_mirrored(a, mirror_of(b)), other = with_mirrored(b, mirror_of(a));
  CHECK(one.x == other.x);
  CHECK(one.y == other.y);
  CHECK(one.x.values[5] == (a.x.values[5] + b.x.values[5]) * 0.5F);
}
