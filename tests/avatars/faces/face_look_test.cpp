#include "avatars/faces/search/face_look.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/search/seen_faces.h"
#include "core/files/data_directory.h"
#include "tests/avatars/drawn_face.h"

using namespace navtalk;

namespace {

// The demo's people, every 40th frame. `by`: moves each edge of the box.
std::vector<FaceLook> looks_of(const char* id, const Box& by = {}) {
  const Bundle bundle = Bundle::open(data_directory() / "demo/avatars" / id);
  std::vector<FaceLook> looks;
  for (std::int64_t i = 0; i < bundle.frame_count(); i += 40) {
    Box box = bundle.face(i)->placement.box;
    box = {box.x1 + by.x1, box.y1 + by.y1, box.x2 + by.x2, box.y2 + by.y2};
    looks.push_back(look_of(bundle.frame(i).view(), box));
  }
  return looks;
}

struct Distances {
  double least = 1, most = 0;
};
Distances between(const std::vector<FaceLook>& all, const std::vector<FaceLook>& others) {
  Distances found;
  for (const FaceLook& one : all)
    for (const FaceLook& other : others) {
      found.least = std::min(found.least, look_distance(one, other));
      found.most = std::max(found.most, look_distance(one, other));
    }
  return found;
}

}  // namespace

TEST_CASE("a person looks like themselves through a clip, and not like another one") {
  const auto ada = looks_of("ada"), theo = looks_of("theo");
  CHECK(between(ada, ada).most < 0.16);
  CHECK(between(theo, theo).most < 0.16);
  CHECK(between(ada, theo).least > 0.2);
  CHECK(between(ada, looks_of("ada", {-18, 12, 6, 20})).most < 0.2);
}

TEST_CASE("a face looks the same in other light and size") {
  const Image face = tests::draw(200, 200, {{100, 100, 120}});
  const Image larger = tests::draw(400, 400, {{200, 200, 240}});
  Image darker = face;
  for (std::uint8_t& value : darker.pixels) value = static_cast<std::uint8_t>(value * 7 / 10);
  const FaceLook look = look_of(face.view(), {40, 40, 160, 160});
  CHECK(look_distance(look, look) == 0);
  CHECK(look_distance(look, look_of(darker.view(), {40, 40, 160, 160})) < 0.05);
  CHECK(look_distance(look, look_of(larger.view(), {80, 80, 320, 320})) < 0.05);
}

TEST_CASE("of a box that leaves the picture the rest is looked at; outside nothing is known") {
  const Image face = tests::draw(200, 200, {{100, 100, 120}});
  const FaceLook look = look_of(face.view(), {40, 40, 160, 160});
  CHECK(look_of(face.view(), {-50, 0, 80, 100}) == look_of(face.view(), {0, 0, 80, 100}));
  CHECK(look_of(face.view(), {300, 40, 400, 160}) == FaceLook{});
  CHECK(look_distance(look, FaceLook{}) == 0);
}

TEST_CASE("faces and points come back from the numbers that a log keeps") {
  const Image face = tests::draw(200, 200, {{100, 100, 120}});
  const SeenFaces seen = look_at(face.view(), {{40, 40, 160, 160}, {-5, 0, 80, 90}});
  std::vector<std::int32_t> numbers = numbers_of(seen);
  CHECK(read_seen_faces(numbers) == seen);
  CHECK(read_seen_faces({}) == SeenFaces{});
  numbers.pop_back();
  CHECK_FALSE(read_seen_faces(numbers));
  const FacePoints points(k_face_point_count, {3, -4});
  CHECK(read_face_points(numbers_of(points)) == points);
  CHECK(read_face_points({}) == FacePoints{});
  CHECK_FALSE(read_face_points(numbers));
}
