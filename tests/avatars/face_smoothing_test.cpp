#include "avatars/faces/face_smoothing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using navtalk::Box;
using navtalk::smooth_faces;

namespace {

using Squares = std::vector<std::optional<Box>>;

Box square_at(int x, int y, int size) { return {x, y, x + size, y + size}; }

}  // namespace

TEST_CASE("a face at rest stays exactly where it is") {
  const auto smooth = smooth_faces(Squares(30, square_at(100, 50, 80)), 25);
  for (const auto& face : smooth) {
    CHECK(face->centre_x == Approx(140));
    CHECK(face->centre_y == Approx(90));
    CHECK(face->size == Approx(80));
  }
}

TEST_CASE("jitter of a few pixels shrinks to below a third") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> off(-4, 4);
  Squares squares;
  for (int i = 0; i < 100; ++i)
    squares.emplace_back(square_at(100 + off(random), 50, 80 + off(random)));
  const auto smooth = smooth_faces(squares, 25);
  double raw_steps = 0, smooth_steps = 0, size_steps = 0;
  for (std::size_t i = 1; i < squares.size(); ++i) {
    raw_steps += std::abs(squares[i]->x1 - squares[i - 1]->x1);
    smooth_steps += std::abs(smooth[i]->centre_x - smooth[i - 1]->centre_x);
    size_steps += std::abs(smooth[i]->size - smooth[i - 1]->size);
  }
  CHECK(smooth_steps < raw_steps / 3);
  CHECK(size_steps / 99 < 0.1);
}

TEST_CASE("one wrong box does not move its neighbours") {
  Squares squares(30, square_at(100, 50, 80));
  squares[15] = square_at(120, 50, 96);
  for (const auto& face : smooth_faces(squares, 25)) CHECK(face->centre_x == Approx(140));
}

TEST_CASE("a steady movement is followed without lag") {
  Squares squares;
  for (int i = 0; i < 50; ++i) squares.emplace_back(square_at(100 + 2 * i, 50, 80));
  const auto smooth = smooth_faces(squares, 25);
  for (std::size_t i = 10; i < 40; ++i)
    CHECK(smooth[i]->centre_x == Approx(140.0 + 2.0 * static_cast<double>(i)));
}

TEST_CASE("short dropouts are bridged, long ones stay faceless") {
  Squares squares(60, square_at(100, 50, 80));
  for (std::size_t i = 10; i < 15; ++i) squares[i].reset();
  for (std::size_t i = 30; i < 50; ++i) squares[i].reset();
  const auto smooth = smooth_faces(squares, 25);
  CHECK(smooth[12]);
  CHECK_FALSE(smooth[30]);
  CHECK_FALSE(smooth[49]);
  CHECK(smooth[50]);
}

TEST_CASE("a cut in the film is not smeared") {
  Squares squares(20, square_at(100, 50, 80));
  squares.resize(40, square_at(400, 50, 80));
  const auto smooth = smooth_faces(squares, 25);
  CHECK(smooth[19]->centre_x == Approx(140));
  CHECK(smooth[20]->centre_x == Approx(440));
}
