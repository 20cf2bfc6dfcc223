#include "gpu/model/face_boxes.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace navtalk;

namespace {

// A picture of 128x128 in which nothing is a face, until cells are named that are.
class Cells {
 public:
  Cells() {
    std::int64_t count = 0;
    for (const std::int64_t side : {32, 16, 8, 8, 4, 2}) {
      scores_.scales.push_back({side, side});
      starts_.push_back(count);
      count += side * side;
    }
    scores_.scores = NdArray<float>(Shape{count, 2});
    scores_.offsets = NdArray<float>(Shape{count, 4});
    for (std::int64_t i = 0; i < count; ++i) scores_.scores.row(i)[0] = 9;
  }
  // `probability`: of the face. Offsets are those of the net.
  Cells& face(std::size_t scale, std::int64_t row, std::int64_t column, double probability,
              const std::vector<float>& offsets = {0, 0, 0, 0}) {
    const std::int64_t i = starts_.at(scale) + row * scores_.scales.at(scale).columns + column;
    scores_.scores.row(i)[0] = 0;
    scores_.scores.row(i)[1] = static_cast<float>(std::log(probability / (1 - probability)));
    std::copy(offsets.begin(), offsets.end(), scores_.offsets.row(i));
    return *this;
  }
  std::vector<FoundFace> found() const { return found_faces(scores_); }

 private:
  FaceScores scores_;
  std::vector<std::int64_t> starts_;
};

}  // namespace

TEST_CASE("a cell's own box is four cells wide around the cell's middle") {
  const auto found = Cells().face(2, 1, 3, 0.9).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].x1 == 56 - 32);
  CHECK(found[0].y1 == 24 - 32);
  CHECK(found[0].x2 == 56 + 32);
  CHECK(found[0].y2 == 24 + 32);
  CHECK(found[0].score == Approx(0.9));
}

TEST_CASE("offsets move a box by tenths of its side and grow it by fifths of a logarithm") {
  const auto found = Cells().face(1, 2, 2, 0.8, {1, -2, 5 * std::log(2.0F), 0}).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].x1 == Approx(20 + 3.2 - 32));
  CHECK(found[0].x2 == Approx(20 + 3.2 + 32));
  CHECK(found[0].y1 == Approx(20 - 6.4 - 16));
  CHECK(found[0].y2 == Approx(20 - 6.4 + 16));
}

TEST_CASE("a score of one half is no face yet") {
  CHECK(Cells().face(2, 1, 3, 0.5).found().empty());
  CHECK(Cells().face(2, 1, 3, 0.501).found().size() == 1);
  CHECK(Cells().found().empty());
}

TEST_CASE("of two that overlap the one with the higher score stays, not the larger one") {
  const auto found = Cells().face(3, 1, 1, 0.7).face(2, 3, 3, 0.8, {0, 0, 2, 2}).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].score == Approx(0.8));
}

TEST_CASE("faces apart from each other all stay, the best first") {
  const auto found = Cells().face(1, 3, 3, 0.6).face(1, 12, 12, 0.9).face(1, 3, 12, 0.8).found();
  REQUIRE(found.size() == 3);
  CHECK(found[0].score == Approx(0.9));
  CHECK(found[1].score == Approx(0.8));
  CHECK(found[2].score == Approx(0.6));
}

TEST_CASE("overlaps count the pixels at both ends") {
  // 16 pixels wide and 8.8 apart: 0.318 of both with the last pixels, 0.290 without.
  CHECK(Cells().face(0, 8, 8, 0.9).face(0, 8, 10, 0.8, {0.5F, 0, 0, 0}).found().size() == 1);
  CHECK(Cells().face(0, 8, 8, 0.9).face(0, 8, 10, 0.8, {1.0F, 0, 0, 0}).found().size() == 2);
}

TEST_CASE("of equal scores the later cell comes first") {
  const auto found = Cells().face(1, 3, 3, 0.75).face(1, 12, 12, 0.75).found();
  REQUIRE(found.size() == 2);
  CHECK(found[0].x1 > found[1].x1);
}

TEST_CASE("MuseTalk's box is the best face's, cut at the top and the left, in whole pixels") {
  CHECK(best_face({}) == std::nullopt);
  CHECK(best_face(Cells().face(3, 0, 0, 0.9).found()) == Box{0, 0, 80, 80});
  CHECK(best_face({{.x1 = 1.9F, .y1 = -0.5F, .x2 = 700.7F, .y2 = 30, .score = 1}}) ==
        Box{1, 0, 700, 30});
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(best_face({{.x1 = -inf, .y1 = 0, .x2 = inf - inf, .y2 = inf, .score = 1}})->x2 == 0);
}
