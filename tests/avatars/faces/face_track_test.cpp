#include "avatars/faces/face_track.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/base/error.h"

using navtalk::Box;
using navtalk::Detections;
using navtalk::FaceLook;
using navtalk::SeenFaces;

namespace {

Box square(int x, int y, int size) { return {x, y, x + size, y + size}; }
const Box k_face = square(100, 100, 80);

// Faces of which nobody knows what they look like.
navtalk::FollowedFace follow_face(const std::vector<Detections>& frames, int fps, int number = 1) {
  std::vector<SeenFaces> seen;
  for (const Detections& boxes : frames) {
    seen.emplace_back();
    for (const Box& box : boxes) seen.back().push_back({.box = box});
  }
  return navtalk::follow_face(seen, fps, number);
}

// Two of these are sqrt(1 - cos(difference)) apart: 0.1 for 0.14 radians, 1 for a quarter of a turn.
FaceLook look(double angle) {
  FaceLook look{};
  for (std::size_t i = 0; i < look.size(); i += 16) {
    look[i] = static_cast<std::uint8_t>(std::lround(255 * std::cos(angle)));
    look[i + 8] = static_cast<std::uint8_t>(std::lround(255 * std::sin(angle)));
  }
  return look;
}
constexpr double k_ann = 0, k_bob = 0.7;

void show(std::vector<SeenFaces>& frames, int count, const Box& box, double who) {
  for (int i = 0; i < count; ++i) frames.push_back({{.box = box, .look = look(who)}});
}

// In which of the stretches of `length` frames that face is to be seen.
std::string shown(const std::vector<SeenFaces>& frames, int number, std::size_t length) {
  const auto followed = navtalk::follow_face(frames, 25, number);
  std::string text;
  for (std::size_t i = 0; i < frames.size(); i += length) {
    text += followed.boxes[i] ? '+' : '-';
    for (std::size_t k = i; k < i + length; ++k)
      CHECK(followed.boxes[k].has_value() == followed.boxes[i].has_value());
  }
  return text;
}

}  // namespace

TEST_CASE("overlap is the shared area over the whole") {
  CHECK(navtalk::overlap(k_face, k_face) == 1.0);
  CHECK(navtalk::overlap(square(0, 0, 10), square(10, 0, 10)) == 0.0);
  CHECK(navtalk::overlap(square(0, 0, 10), square(5, 0, 10)) == Approx(1.0 / 3));
}

TEST_CASE("the largest face is followed where it moves, whatever else is seen for a moment") {
  std::vector<Detections> frames;
  for (int i = 0; i < 50; ++i) {
    Detections seen{square(100 + i, 100, 80)};
    if (i == 20) seen.insert(seen.begin(), square(0, 0, 200));  // wrong, and in front
    frames.push_back(seen);
  }
  const auto found = follow_face(frames, 25).boxes;
  for (int i = 0; i < 50; ++i)
    CHECK(found[static_cast<std::size_t>(i)] == square(100 + i, 100, 80));
}

TEST_CASE("frames in which nothing is seen stay empty") {
  std::vector<Detections> frames(30, Detections{k_face});
  frames[10].clear();
  const auto found = follow_face(frames, 25).boxes;
  CHECK_FALSE(found[10]);
  CHECK(found[9]);
  CHECK(found[11]);
}

TEST_CASE("a face that reappears elsewhere is still the avatar's") {
  std::vector<Detections> frames(100, Detections{k_face});
  for (std::size_t i = 40; i < 60; ++i) frames[i].clear();
  for (std::size_t i = 60; i < 100; ++i) frames[i] = {square(300, 120, 70)};
  const auto found = follow_face(frames, 25).boxes;
  CHECK_FALSE(found[50]);
  CHECK(found[80] == square(300, 120, 70));
}

TEST_CASE("no face anywhere is refused") {
  CHECK_THROWS_WITH(follow_face(std::vector<Detections>(10), 25), Catch::Contains("no face"));
}

TEST_CASE("a face in two of a hundred frames is a detector's error, not a face") {
  std::vector<Detections> frames(100);
  frames[4] = frames[5] = {k_face};
  CHECK_THROWS_WITH(follow_face(frames, 25), Catch::Contains("no face"));
}

TEST_CASE(
    "of faces that stay beside each other the largest is followed, or the one of that number") {
  std::vector<Detections> frames;
  for (int i = 0; i < 40; ++i)  // they cross each other's columns, one above the other
    frames.push_back({square(100 + 4 * i, 100, 80), square(300 - 4 * i, 300, 60)});
  const auto largest = follow_face(frames, 25), second = follow_face(frames, 25, 2);
  for (int i = 0; i < 40; ++i) {
    CHECK(largest.boxes[static_cast<std::size_t>(i)] == square(100 + 4 * i, 100, 80));
    CHECK(second.boxes[static_cast<std::size_t>(i)] == square(300 - 4 * i, 300, 60));
  }
  CHECK(largest.others == "1 at 100,100,80,80 in frame 0; 2 at 300,300,60,60 in frame 0");
  CHECK_THROWS_WITH(follow_face(frames, 25, 3), Catch::Contains("--face 3: there are 2 faces") &&
                                                    Catch::Contains("300,300,60,60"));
  CHECK_THROWS_WITH(follow_face(std::vector<Detections>(9, Detections{k_face}), 25, 2),
                    Catch::Contains("there is one face"));
}

TEST_CASE("of two faces that leave and come back each is itself again") {
  std::vector<Detections> frames(90, Detections{k_face, square(400, 110, 70)});
  for (std::size_t i = 30; i < 60; ++i) frames[i].clear();
  const auto first = follow_face(frames, 25), second = follow_face(frames, 25, 2);
  CHECK_FALSE(first.boxes[45]);
  CHECK(first.boxes[80] == k_face);
  CHECK(second.boxes[10] == square(400, 110, 70));
  CHECK(second.boxes[80] == square(400, 110, 70));
}

TEST_CASE("a second face that is small, or soon gone, is let pass") {
  std::vector<Detections> small(40, Detections{k_face, square(300, 110, 40)});
  CHECK(follow_face(small, 25).boxes[0] == k_face);
  CHECK(follow_face(small, 25).others.empty());
  std::vector<Detections> brief(40, Detections{k_face});
  for (std::size_t i = 0; i < 8; ++i) brief[i].push_back(square(300, 110, 75));
  CHECK(follow_face(brief, 25).boxes[0] == k_face);
  CHECK(follow_face(brief, 25).others.empty());
}

TEST_CASE("the order in which a detector lists its finds changes nothing") {
  std::vector<Detections> one, other;
  for (int i = 0; i < 20; ++i) {
    one.push_back({square(100 + i, 100, 80), square(300, 110, 40)});
    other.push_back({square(300, 110, 40), square(100 + i, 100, 80)});
  }
  CHECK(follow_face(one, 25).boxes == follow_face(other, 25).boxes);
}

TEST_CASE("who appears only while another one is away is somebody else") {
  std::vector<SeenFaces> frames;
  bool same_place = false;
  SECTION("beside that one") {
    show(frames, 40, k_face, k_ann);
    show(frames, 30, square(400, 110, 78), k_bob);
    show(frames, 40, k_face, k_ann);
    show(frames, 30, square(400, 110, 78), k_bob);
  }
  SECTION("in the same place, after a cut") {
    same_place = true;
    show(frames, 40, k_face, k_ann);
    show(frames, 30, k_face.moved(4, 2), k_bob);
    show(frames, 40, k_face, k_ann);
    show(frames, 30, k_face.moved(4, 2), k_bob);
  }
  const auto first = navtalk::follow_face(frames, 25), second = navtalk::follow_face(frames, 25, 2);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CAPTURE(i);
    const bool ann = i < 40 || (i >= 70 && i < 110);
    CHECK(first.boxes[i].has_value() == ann);
    CHECK(second.boxes[i].has_value() == !ann);
    CHECK(first.instead[i].empty() == ann);
    CHECK(is_anothers(first, i, k_face) == (!ann && same_place));
  }
  CHECK_THAT(first.others, Catch::Contains("in frame 40"));  // with a warning
  CHECK_THROWS_WITH(navtalk::follow_face(frames, 25, 3), Catch::Contains("there are 2 faces"));
}

TEST_CASE("a face that comes back elsewhere is one person where it looks the same") {
  std::vector<SeenFaces> frames;
  show(frames, 30, k_face, k_ann);
  frames.resize(60);
  show(frames, 30, square(500, 300, 90), k_ann + 0.14);  // in a little other light
  CHECK(shown(frames, 1, 30) == "+-+");
  CHECK(navtalk::follow_face(frames, 25).others.empty());
}

TEST_CASE("of two who look alike and go, each comes back where they were") {
  std::vector<SeenFaces> frames;
  for (int i = 0; i < 90; ++i) {
    frames.emplace_back();
    if (i >= 30 && i < 60) continue;
    frames.back() = {{.box = k_face.moved(i, 0), .look = look(k_ann)},
                     {.box = square(500 - i, 110, 70), .look = look(k_ann)}};
  }
  const auto first = navtalk::follow_face(frames, 25), second = navtalk::follow_face(frames, 25, 2);
  CHECK(first.boxes[80] == k_face.moved(80, 0));
  CHECK(second.boxes[80] == square(420, 110, 70));
}

TEST_CASE("of two who change places while they are away each is known by their look") {
  std::vector<SeenFaces> frames;
  const Box right = square(400, 110, 78);
  for (int i = 0; i < 90; ++i) {
    frames.emplace_back();
    if (i >= 30 && i < 60) continue;
    frames.back() = {{.box = i < 30 ? k_face : right, .look = look(k_ann)},
                     {.box = i < 30 ? right : k_face, .look = look(k_bob)}};
  }
  const auto first = navtalk::follow_face(frames, 25);
  CHECK(first.boxes[0] == k_face);
  CHECK(first.boxes[80] == right);
}

TEST_CASE("a face whose light changes all the time stays one") {
  std::vector<SeenFaces> frames;
  for (int i = 0; i < 110; ++i) show(frames, 1, k_face, i * 0.014);
  CHECK(shown(frames, 1, 110) == "+");
  frames.resize(140);
  show(frames, 10, k_face, k_ann);  // and comes back as it was at first
  CHECK(shown(frames, 1, 10) == "+++++++++++---+");
}

TEST_CASE("a person whom one detector sees seldom is another one's throughout") {
  const Box ann = square(100, 100, 80), bob = square(300, 100, 70), bob_again = square(303, 98, 72);
  std::vector<SeenFaces> first, second;
  for (int i = 0; i < 40; ++i) {
    first.push_back({{.box = ann, .look = look(k_ann)}});
    if (i % 2 == 0) first.back().push_back({.box = bob, .look = look(k_bob)});
    second.push_back({{.box = square(101, 103, 78), .look = look(k_ann)},
                      {.box = bob_again, .look = look(k_bob)}});
  }
  CHECK_FALSE(navtalk::follow_face(first, 25, 2).boxes[1]);
  const auto both = navtalk::with_missed_people(first, second, 25);
  const auto largest = navtalk::follow_face(both, 25, 1), other = navtalk::follow_face(both, 25, 2);
  for (std::size_t i = 0; i < both.size(); ++i) {
    CHECK(both[i].size() == 2);
    CHECK(largest.boxes[i] == ann);
    CHECK(other.boxes[i] == bob_again);
  }
}

TEST_CASE("a person whom both detectors see stays the first one's, dropouts included") {
  std::vector<SeenFaces> first(40, SeenFaces{{.box = k_face, .look = look(k_ann)}});
  const std::vector<SeenFaces> second(40,
                                      SeenFaces{{.box = square(102, 98, 82), .look = look(k_ann)}});
  for (std::size_t i = 10; i < 15; ++i) first[i].clear();
  CHECK(navtalk::with_missed_people(first, second, 25) == first);
}
