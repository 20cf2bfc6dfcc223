#include "avatars/faces/face_smoothing.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <utility>

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

// Where something of the face is in frame i, in pixels.
using Path = std::function<double(int)>;

constexpr int k_frames = 75;
constexpr double k_turn = 2 * std::numbers::pi / 25;  // of 1 Hz in a frame

Path swing(double hz, double speed, double phase = 0) {
  return [=](int i) { return speed / (k_turn * hz) * std::sin(k_turn * hz * i + phase); };
}

// Movements of at most `speed` pixels a frame.
std::vector<std::pair<std::string, Path>> movements(double speed) {
  std::vector<std::pair<std::string, Path>> all;
  for (const double hz : {0.5, 1.0, 2.0, 3.0}) {
    for (const double phase : {0.0, 1.0, std::numbers::pi / 2})
      all.emplace_back(fmt::format("{} Hz from {}", hz, phase), swing(hz, speed, phase));
  }
  for (const auto& [from, to] : {std::pair(0, 75), {20, 30}, {30, 60}, {40, 75}, {70, 75}, {0, 5}})
    all.emplace_back(fmt::format("moves in frames {} to {}", from, to),
                     [=](int i) { return speed * std::clamp(i - from, 0, to - from); });
  const Path shake = swing(2, speed);
  all.emplace_back("shakes once", [=](int i) { return shake(std::clamp(i - 30, 0, 25)); });
  return all;
}

struct Off {
  double centre = 0, edges = 0;
};

// How far the box is off a face whose left and right edges take these paths, where the finder is up to `jitter` off with each.
Off worst(const Path& left, const Path& right, int jitter = 0) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> off(-jitter, jitter);
  const auto at = [](double value) { return static_cast<int>(std::lround(value)); };
  Squares squares;
  for (int i = 0; i < k_frames; ++i) {
    const int x1 = at(left(i)) + off(random), x2 = at(right(i)) + off(random);
    squares.emplace_back(Box{x1, 50, x2, 50 + (x2 - x1)});
  }
  const auto smooth = smooth_faces(squares, 25);
  Off result;
  for (int i = 0; i < k_frames; ++i) {
    const auto& face = smooth[static_cast<std::size_t>(i)].value();
    const auto further = [](double& most, double distance) {
      most = std::max(most, std::abs(distance));
    };
    further(result.centre, face.centre_x - (left(i) + right(i)) / 2);
    further(result.edges, face.centre_x - face.size / 2 - left(i));
    further(result.edges, face.centre_x + face.size / 2 - right(i));
  }
  return result;
}

Path from(double start, const Path& path, double factor = 1) {
  return [=](int i) { return start + factor * path(i); };
}

double jitter_of(const std::vector<double>& values) {
  double squares = 0;
  for (std::size_t i = 2; i < values.size(); ++i)
    squares += std::pow(values[i] - 2 * values[i - 1] + values[i - 2], 2);
  return std::sqrt(squares / static_cast<double>(values.size() - 2));
}

}  // namespace

TEST_CASE("a face that moves is followed, through the clip's first and last frames as well") {
  struct Row {
    double speed;  // pixels a frame
    double lag;    // pixels
  };
  for (const Row& row : {Row{6, 3}, Row{24, 8}}) {
    for (const auto& [name, path] : movements(row.speed)) {
      CAPTURE(row.speed, name);
      const Off exact = worst(from(500, path), from(730, path));
      CHECK(exact.centre <= 3);
      CHECK(exact.edges <= 3);
      const Off jittering = worst(from(500, path), from(730, path), 2);
      CHECK(jittering.centre <= row.lag + 1);
      CHECK(jittering.edges <= row.lag + 2);
    }
  }
}

TEST_CASE("a face that comes and goes is followed with every edge") {
  // 15 % nearer and further within 2 s, and faces of which one edge moves.
  const Path zoom = [](int i) { return 32 * std::sin(k_turn / 2 * i + 3.8); };
  CHECK(worst(from(500, zoom, -0.5), from(712, zoom, 0.5)).edges <= 3);
  CHECK(worst(from(500, zoom, -0.5), from(712, zoom, 0.5), 2).edges <= 5);
  const Path rest = [](int) { return 0; };
  for (const auto& [name, path] : movements(6)) {
    CAPTURE(name);
    CHECK(worst(from(500, rest), from(730, path)).edges <= 3);
    CHECK(worst(from(500, rest), from(730, path), 2).edges <= 6);
  }
  for (const double hz : {2, 3}) {
    CAPTURE(hz);
    CHECK(worst(from(500, rest), from(730, swing(hz, 24))).edges <= 3);
    CHECK(worst(from(500, rest), from(730, swing(hz, 24)), 2).edges <= 8);
  }
}

TEST_CASE("a face that is elsewhere from one frame to the next is elsewhere") {
  const Path step = [](int i) { return i < 37 ? 0 : 48; };
  CHECK(worst(from(500, step), from(730, step)).edges <= 3);
  CHECK(worst(from(500, step), from(730, step), 2).edges <= 8);
}

TEST_CASE("jitter of a face at rest shrinks to a tenth") {
  for (const double deviation : {0.8, 1.4, 2.0}) {  // second differences of 2 to 5 pixels
    CAPTURE(deviation);
    std::mt19937 random(5);
    std::normal_distribution<double> off(0, deviation);
    const auto at = [](double value) { return static_cast<int>(std::lround(value)); };
    Squares squares;
    std::vector<double> raw_centres, raw_sizes, centres, sizes;
    for (int i = 0; i < 250; ++i) {
      squares.push_back(square_at(at(500 + off(random)), 50, 230 + 2 * at(off(random))));
      raw_centres.push_back((squares.back()->x1 + squares.back()->x2) / 2.0);
      raw_sizes.push_back(squares.back()->width());
    }
    for (const auto& face : smooth_faces(squares, 25)) {
      centres.push_back(face->centre_x);
      sizes.push_back(face->size);
      CHECK(std::abs(face->centre_x - 615) <= 1 + 2 * deviation);
    }
    CHECK(jitter_of(centres) <= 0.1 * jitter_of(raw_centres));
    CHECK(jitter_of(sizes) <= 0.1 * jitter_of(raw_sizes));
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
