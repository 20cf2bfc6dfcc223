// Stills that blink and sway.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/blink.h"
#include "avatars/faces/cascade_track.h"
#include "avatars/faces/eyes.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "avatars/prepare/still_motion.h"
#include "core/base/error.h"
#include "core/files/data_directory.h"
#include "core/media/image_file.h"
#include "tests/avatars/drawn_face.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

// The first frame of an avatar that comes with navtalk.
struct Portrait {
  Portrait() {
    const Bundle bundle = Bundle::open(data_directory() / "demo/avatars/ada");
    picture = bundle.frame(0);
    face = bundle.face(0)->placement.box;
  }
  Image picture{};
  Box face{};
};

StillMotion motion_of(const Portrait& portrait, StillMotionKind kind, const FrameRate& fps = 25) {
  return {portrait.picture, portrait.face, fps, kind, cascade_directories()};
}

// Mean absolute difference of two parts of one size, in grey levels.
double difference(const ConstImageView& a, const ConstImageView& b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width * a.channels; ++x) sum += std::abs(a.row(y)[x] - b.row(y)[x]);
  return sum / (a.height * a.width * a.channels);
}

Box around(double x, double y, double half_width, double half_height) {
  return {static_cast<int>(x - half_width), static_cast<int>(y - half_height),
          static_cast<int>(x + half_width), static_cast<int>(y + half_height)};
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

// Skin, and two eyes at x 150 and 250, y 180, whose upper lids the brows touch; with their landmarks.
struct DrawnEyes {
  DrawnEyes() {
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) paint(x, y);
    points.assign(k_face_point_count, {200, 260});
    for (std::size_t eye = 0; eye < 2; ++eye) {
      const int x = eye == 0 ? 150 : 250;
      const FacePoint lids[] = {{x - 22, 180}, {x - 7, 172}, {x + 7, 172},
                                {x + 22, 180}, {x + 7, 187}, {x - 7, 187}};
      std::copy_n(lids, 6, points.begin() + 36 + static_cast<std::ptrdiff_t>(6 * eye));
      for (int i = 0; i < 5; ++i)
        points[17 + 5 * eye + static_cast<std::size_t>(i)] = {x - 28 + 14 * i, 162};
    }
  }
  void paint(int x, int y) {
    const int across = std::abs(x < 200 ? x - 150 : x - 250);
    const double lid = y < 180 ? 9.0 : 7.0;
    const bool eye = std::hypot(across / 23.0, (y - 180) / lid) < 1;
    const bool iris = eye && std::hypot(across, y - 180) < 8;
    const bool brow = across < 30 && y >= 153 && y < 171;
    const int level = iris ? 40 : eye ? 235 : brow ? 50 : 0;
    std::uint8_t* pixel = picture.view().at(x, y);
    const std::uint8_t skin[] = {140, 170, 215};
    for (int i = 0; i < 3; ++i) pixel[i] = level > 0 ? static_cast<std::uint8_t>(level) : skin[i];
  }

  Image picture{400, 420};
  Box face{100, 90, 300, 340};
  FacePoints points{};
};

constexpr std::uint8_t k_brown[] = {40, 70, 105};

// Two frames a second: 24 pictures.
PrepareOptions still_of(const TemporaryDirectory& base, const std::string& name) {
  if (!fs::exists(base / "still.png"))
    write_png(base / "still.png", tests::draw(160, 120, {{80, 65, 60}}).view());
  return {.source = std::vector{base / "still.png"},
          .output = base / name,
          .id = "still",
          .faces = std::make_shared<GivenFaces>(tests::k_box),
          .fps = 2,
          .still_motion = StillMotionKind::blink_and_sway,
          .latents = std::nullopt};
}

}  // namespace

TEST_CASE("the eyes of a face are found where they are") {
  const Portrait ada;
  const auto eyes = find_eyes(ada.picture.view(), ada.face, cascade_directories());
  REQUIRE(eyes);
  // Her pupils, read off the picture.
  CHECK(eyes->both[0].x == Approx(283).margin(15));
  CHECK(eyes->both[0].y == Approx(270).margin(12));
  CHECK(eyes->both[1].x == Approx(424).margin(15));
  CHECK(eyes->both[1].y == Approx(270).margin(12));
  CHECK(eyes->both[0].half_width == eyes->both[1].half_width);
  const Image bare = tests::draw(160, 120, {});
  CHECK_FALSE(find_eyes(bare.view(), tests::k_box, cascade_directories()));
  CHECK_THROWS_WITH(find_eyes(bare.view(), tests::k_box, {"/nonexistent"}),
                    Catch::Contains("opencv-data"));
}

TEST_CASE("landmarks keep the lids of a blink off brows that touch the eyes") {
  const DrawnEyes eyes;
  const auto found = find_eyes(eyes.picture.view(), eyes.face, cascade_directories(), eyes.points);
  REQUIRE(found);
  CHECK(found->both[0].x == Approx(150).margin(4));
  CHECK(found->both[1].x == Approx(250).margin(4));
  const Image shut = close_eyes(eyes.picture, *found, 1);
  for (const int x : {150, 250}) {
    const Box brow{x - 26, 153, x + 26, 166}, pupil{x - 6, 175, x + 6, 183};
    CHECK(difference(shut.view().crop(brow), eyes.picture.view().crop(brow)) < 0.5);
    CHECK(difference(shut.view().crop(pupil), eyes.picture.view().crop(pupil)) > 60);
  }
  // Also where what the colours show is larger than the eyes: it is eyes and brows.
  const auto larger = find_eyes(eyes.picture.view(), eyes.face, cascade_directories());
  if (larger) CHECK(found->both[0].half_width < 1.4 * 23);
  // Points beside the eyes do not count.
  FacePoints astray = eyes.points;
  for (FacePoint& point : astray) point.y += 70;
  const auto by_colours = find_eyes(eyes.picture.view(), eyes.face, cascade_directories());
  const auto not_there = find_eyes(eyes.picture.view(), eyes.face, cascade_directories(), astray);
  CHECK(not_there.has_value() == by_colours.has_value());
}

TEST_CASE("a lock of hair over an eye stays in front of the lid that closes") {
  DrawnEyes eyes;
  // From above the brow to the cheek, through the left eye's white and iris.
  const auto lock_at = [](int y) { return 146 + (y - 140) / 8; };
  constexpr int k_width = 6;
  for (int y = 140; y < 220; ++y)
    for (int x = lock_at(y); x < lock_at(y) + k_width; ++x) {
      std::copy_n(k_brown, 3, eyes.picture.view().at(x, y));
    }
  const DrawnEyes bare;
  const auto found = find_eyes(bare.picture.view(), bare.face, cascade_directories(), bare.points);
  REQUIRE(found);
  const Image shut = close_eyes(eyes.picture, *found, 1);
  double changed = 0;
  for (int y = 168; y < 192; ++y)
    changed +=
        difference(shut.view().crop({lock_at(y) + 1, y, lock_at(y) + k_width - 1, y + 1}),
                   eyes.picture.view().crop({lock_at(y) + 1, y, lock_at(y) + k_width - 1, y + 1}));
  CHECK(changed / 24 < 6);
  // The white beside it, and the other eye, are closed.
  for (const Box& part :
       {Box{133, 177, 140, 182}, Box{164, 178, 169, 182}, Box{244, 175, 256, 183}})
    CHECK(difference(shut.view().crop(part), eyes.picture.view().crop(part)) > 30);
}

TEST_CASE("hair that ends in an eye, and glasses, do not keep it open") {
  const auto pupil_changes = [](const Box& painted) {
    DrawnEyes eyes;
    for (int y = painted.y1; y < painted.y2; ++y)
      for (int x = painted.x1; x < painted.x2; ++x)
        std::copy_n(k_brown, 3, eyes.picture.view().at(x, y));
    const DrawnEyes bare;
    const auto found =
        find_eyes(bare.picture.view(), bare.face, cascade_directories(), bare.points);
    const Image shut = close_eyes(eyes.picture, found.value(), 1);
    const Box pupil{144, 175, 156, 183};
    return difference(shut.view().crop(pupil), eyes.picture.view().crop(pupil));
  };
  CHECK(pupil_changes({146, 140, 152, 178}) > 60);  // from above
  CHECK(pupil_changes({146, 186, 152, 220}) > 60);  // from below
  CHECK(pupil_changes({120, 189, 180, 193}) > 60);  // a rim
}

TEST_CASE("a blink closes both eyes for a moment, and changes nothing else") {
  const Portrait ada;
  const StillMotion blinks = motion_of(ada, StillMotionKind::blink_and_sway);
  const StillMotion sways = motion_of(ada, StillMotionKind::sway);
  CHECK(blinks.blinks());
  CHECK_FALSE(sways.blinks());
  const auto eyes = *find_eyes(ada.picture.view(), ada.face, cascade_directories());
  const Box cheek = around(eyes.both[0].x, eyes.both[0].y + 0.35 * eyes.distance, 10, 8);
  std::vector<std::int64_t> closed;
  for (std::int64_t i = 40; i < 54; ++i) {
    const Image with = blinks.frame(i), without = sways.frame(i);
    const Box face = blinks.face(i);
    const int dx = face.x1 - ada.face.x1, dy = face.y1 - ada.face.y1;
    int shut = 0;
    for (const Eye& eye : eyes.both) {
      const Box pupil = around(eye.x, eye.y, 10, 8).moved(dx, dy);
      // Skin is as far from the cheek as one cheek's pixel from another; an iris is not.
      shut += difference(with.view().crop(pupil), with.view().crop(cheek.moved(dx, dy))) < 40;
    }
    CHECK((shut == 0 || shut == 2));
    if (shut == 2) closed.push_back(i);
    // Below the eyes, above the brows.
    const Box mouth{face.x1, face.y1 + face.height() * 6 / 10, face.x2, face.y2};
    CHECK(difference(with.view().crop(mouth), without.view().crop(mouth)) == 0);
    const Box forehead{face.x1, face.y1, face.x2, face.y1 + face.height() / 10};
    CHECK(difference(with.view().crop(forehead), without.view().crop(forehead)) == 0);
  }
  REQUIRE_FALSE(closed.empty());
  CHECK(closed.size() <= 6);
  CHECK(closed.back() - closed.front() + 1 == std::ssize(closed));
}

TEST_CASE("the face moves as one, and the round closes") {
  const Portrait ada;
  const StillMotion motion = motion_of(ada, StillMotionKind::sway, 5);
  CHECK(motion.frame_count() == 60);
  CHECK(motion.frame(0) == ada.picture);
  CHECK(motion.face(0) == ada.face);
  const Box mouth{ada.face.x1 + ada.face.width() / 4, ada.face.y1 + ada.face.height() * 6 / 10,
                  ada.face.x2 - ada.face.width() / 4, ada.face.y2 - ada.face.height() / 20};
  int left = 0, right = 0;
  double kept = 0, moved = 0;
  for (std::int64_t i = 0; i < motion.frame_count(); ++i) {
    const Image picture = motion.frame(i);
    const Box face = motion.face(i);
    CHECK(face.width() == ada.face.width());
    CHECK(face.height() == ada.face.height());
    const int dx = face.x1 - ada.face.x1, dy = face.y1 - ada.face.y1;
    left = std::min(left, dx);
    right = std::max(right, dx);
    moved += difference(picture.view().crop(mouth), ada.picture.view().crop(mouth));
    kept += difference(picture.view().crop(mouth.moved(dx, dy)), ada.picture.view().crop(mouth));
  }
  CHECK(left <= -3);
  CHECK(right >= 3);
  CHECK(kept < moved / 3);
  const StillMotion fine = motion_of(ada, StillMotionKind::sway, 25);
  const double step = difference(fine.frame(1).view(), fine.frame(0).view());
  CHECK(step > 0);
  CHECK(difference(fine.frame(299).view(), fine.frame(0).view()) < 1.2 * step);
}

TEST_CASE("landmarks follow what they mark") {
  DrawnEyes eyes;
  const StillMotion motion(eyes.picture, eyes.face, 25, StillMotionKind::sway, {}, eyes.points);
  CHECK(motion.landmarks(0) == eyes.points);
  int farthest = 0;
  for (const std::int64_t index : {40, 120, 170, 250}) {
    const Image picture = motion.frame(index);
    const FacePoints points = motion.landmarks(index);
    REQUIRE(points.size() == k_face_point_count);
    for (const std::size_t eye : {0U, 1U}) {
      double sum_x = 0, sum_y = 0;
      int count = 0;
      for (int y = 150; y < 210; ++y)
        for (int x = eye == 0 ? 110 : 210; x < (eye == 0 ? 190 : 290); ++x) {
          if (picture.view().at(x, y)[0] < 200) continue;  // the white of the eye
          sum_x += x;
          sum_y += y;
          ++count;
        }
      REQUIRE(count > 100);
      // The corners of the eye lie as high as its middle, which the white surrounds.
      const FacePoint &left = points[36 + 6 * eye], &right = points[39 + 6 * eye];
      CHECK(sum_x / count == Approx((left.x + right.x) / 2.0).margin(1.5));
      CHECK(sum_y / count == Approx((left.y + right.y) / 2.0).margin(1.5));
      farthest = std::max(farthest, std::abs(left.x - eyes.points[36 + 6 * eye].x) +
                                        std::abs(left.y - eyes.points[36 + 6 * eye].y));
    }
  }
  CHECK(farthest >= 4);
}

TEST_CASE("what is far from the head stays as it is") {
  Portrait ada;
  ada.face = {300, 250, 400, 380};
  const Image picture = motion_of(ada, StillMotionKind::sway, 5).frame(17);
  CHECK(difference(picture.view().crop(ada.face), ada.picture.view().crop(ada.face)) > 0.5);
  for (const Box& corner : {Box{0, 0, 60, 60}, Box{644, 0, 704, 60}, Box{0, 644, 60, 704}})
    CHECK(difference(picture.view().crop(corner), ada.picture.view().crop(corner)) == 0);
}

TEST_CASE("a face at the edge of the picture stays inside it") {
  Portrait ada;
  ada.face = {0, 0, 300, 400};
  const StillMotion motion = motion_of(ada, StillMotionKind::sway, 2);
  for (std::int64_t i = 0; i < motion.frame_count(); ++i) {
    const Box face = motion.face(i);
    CHECK(face.x1 >= 0);
    CHECK(face.y1 >= 0);
    CHECK(face.width() == 300);
  }
}

TEST_CASE("an avatar of a still that moves keeps the landmarks of every frame") {
  struct MarkedFace : GivenFaces {
    using GivenFaces::GivenFaces;
    std::vector<FacePoints> landmarks() const override {
      return {FacePoints(k_face_point_count, {80, 65})};
    }
  };
  const TemporaryDirectory base;
  PrepareOptions what = still_of(base, "one");
  what.still_motion = StillMotionKind::sway;
  what.faces = std::make_shared<MarkedFace>(tests::k_box);
  prepare(what, {}, {});
  const Bundle bundle = Bundle::open(base / "one");
  const StillMotion motion(read_image(base / "still.png"), tests::k_box, 2, StillMotionKind::sway,
                           {}, what.faces->landmarks().front());
  for (std::int64_t i = 0; i < 24; ++i) CHECK(bundle.face(i)->landmarks == motion.landmarks(i));
}

TEST_CASE("an avatar of a still that moves goes round, with boxes that follow the face") {
  const TemporaryDirectory base;
  prepare(still_of(base, "one"), {}, {});
  const Bundle bundle = Bundle::open(base / "one");
  CHECK(bundle.info().frames == 24);
  CHECK(bundle.info().loop);
  CHECK(bundle.info().faceless_frames == 0);
  const StillMotion motion(read_image(base / "still.png"), tests::k_box, 2, StillMotionKind::sway,
                           {});
  bool any_moved = false;
  for (std::int64_t i = 0; i < 24; ++i) {
    CHECK(bundle.face(i)->placement.box == motion.face(i));
    any_moved = any_moved || motion.face(i) != tests::k_box;
  }
  CHECK(any_moved);
  CHECK_FALSE(fs::exists(base / "one" / "still.mp4"));

  // An interruption changes nothing of the result.
  std::stop_source stop;
  const Progress stops = [&](std::string_view stage, std::size_t done, std::size_t) {
    if (stage == "reading" && done == 10) stop.request_stop();
  };
  CHECK_THROWS(prepare(still_of(base, "two"), stops, stop.get_token()));
  prepare(still_of(base, "two"), {}, {});
  CHECK(contents(base / "one") == contents(base / "two"));
}

TEST_CASE("only one picture can be given motion") {
  const TemporaryDirectory base;
  PrepareOptions two = still_of(base, "two");
  two.source = std::vector{base / "still.png", base / "still.png"};
  CHECK_THROWS_WITH(prepare(two, {}, {}), Catch::Contains("only an avatar of one picture"));
  PrepareOptions video = still_of(base, "video");
  video.source = base / "still.png";
  CHECK_THROWS_WITH(prepare(video, {}, {}), Catch::Contains("only an avatar of one picture"));
  PrepareOptions clips = still_of(base, "clips");
  clips.clips = {{"idle", base / "still.png"}};
  CHECK_THROWS_WITH(prepare(clips, {}, {}), Catch::Contains("only an avatar of one picture"));
}
