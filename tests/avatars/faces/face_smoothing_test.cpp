#include "avatars/faces/face_smoothing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
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

namespace {

// Where the face is in frame i, and how large: pixels.
using Path = std::function<double(int)>;

double worst_lag(const Path& x, int frames, int jitter = 0) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> off(-jitter, jitter);
  Squares squares;
  for (int i = 0; i < frames; ++i)
    squares.emplace_back(square_at(static_cast<int>(std::lround(x(i))) + off(random), 50, 250));
  const auto smooth = smooth_faces(squares, 25);
  double worst = 0;
  for (int i = 0; i < frames; ++i)
    worst = std::max(worst, std::abs(smooth[static_cast<std::size_t>(i)]->centre_x - 125 - x(i)));
  return worst;
}

}  // namespace

TEST_CASE("a fast face is followed, through the clip's first and last frames as well") {
  struct Row {
    double speed;  // pixels a frame
    double lag;    // pixels
  };
  for (const Row& row : {Row{6, 3}, Row{24, 8}}) {
    CAPTURE(row.speed);
    CHECK(worst_lag([&](int i) { return 500 + row.speed * i; }, 40) <= 1);
    // To and fro: that fast in the middle, and with a turn every half second.
    const auto swings = [&](int i) { return 500 + row.speed * 4 * std::sin(i / 4.0); };
    CHECK(worst_lag(swings, 60) <= row.lag);
    CHECK(worst_lag(swings, 60, 2) <= row.lag + 2);
    const auto sets_off = [&](int i) { return 500 + row.speed * std::clamp(i - 10, 0, 15); };
    CHECK(worst_lag(sets_off, 40) <= row.lag);
  }
}

TEST_CASE("the size of a face that comes nearer is followed to the clip's end") {
  Squares squares;
  for (int i = 0; i < 60; ++i) squares.emplace_back(square_at(100 - 2 * i, 50, 120 + 4 * i));
  const auto smooth = smooth_faces(squares, 25);
  for (std::size_t i = 0; i < smooth.size(); ++i)
    CHECK(std::abs(smooth[i]->size - (120 + 4.0 * static_cast<double>(i))) <= 1);
}

TEST_CASE("wrong boxes on a moving face move nothing, up to four in a row") {
  Squares squares;
  for (int i = 0; i < 50; ++i) squares.emplace_back(square_at(100 + 5 * i, 50, 200));
  const Squares right = squares;
  for (std::size_t i = 20; i < 24; ++i)
    squares[i] = square_at(100 + 5 * static_cast<int>(i) - 50, 90, 240);
  const auto smooth = smooth_faces(squares, 25), wanted = smooth_faces(right, 25);
  for (std::size_t i = 0; i < smooth.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(smooth[i]->centre_x - wanted[i]->centre_x) <= 4);
    CHECK(std::abs(smooth[i]->centre_y - wanted[i]->centre_y) <= 4);
    CHECK(std::abs(smooth[i]->size - wanted[i]->size) <= 4);
  }
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
