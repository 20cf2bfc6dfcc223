#include "avatars/faces/landmark_faces.h"

#include <catch2/catch.hpp>

#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "tests/avatars/drawn_face.h"
#include "tests/gpu/model/face_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;

namespace {

constexpr std::size_t k_bridge = k_first_face_point + 29;

// A face of 100 pixels: the jaw from (left,170) down to (left+50,210), the bridge of the nose at y 150.
std::vector<PosePoint> face_at(double left) {
  std::vector<PosePoint> points(133, {9999, 9999, 1});  // not of the face: must not count
  for (std::size_t i = 0; i < k_face_points; ++i)
    points[k_first_face_point + i] = {left + 50, 170, 1};
  points[k_first_face_point] = {left, 170, 1};
  points[k_first_face_point + 8] = {left + 50, 210.9, 1};
  points[k_first_face_point + 16] = {left + 100.7, 170, 1};
  points[k_bridge] = {left + 50, 150, 1};
  return points;
}

constexpr Box k_detected{20, 30, 90, 100};

std::optional<Box> box_of(const std::vector<PosePoint>& points, const LandmarkBoxOptions& options,
                          int height = 480) {
  return landmark_box(points, k_detected, options, 640, height);
}

struct StillClip {
  TemporaryDirectory base;
  std::unique_ptr<Clip> clip;
  explicit StillClip(int frames) {
    tests::write_clip(base / "in.mp4", tests::moving_face(frames));
    clip = std::make_unique<Clip>(base / "in.mp4", 160, 120);
  }
  FaceBoxes boxes(FaceSource& source) const { return source.find(*clip, 25, {}, {}); }
};

LandmarkFaces looking(LandmarkFaces::Look look) { return {std::move(look), "none", {}}; }

}  // namespace

TEST_CASE("the box goes from jaw to jaw, and as far above the nose's bridge as the chin is below") {
  CHECK(box_of(face_at(100), {}) == Box{100, 90, 200, 220});
  CHECK(box_of(face_at(100), {.extra_margin = 0}) == Box{100, 90, 200, 210});
}

TEST_CASE("a shift of the bridge moves the top twice as far") {
  CHECK(box_of(face_at(100), {.bbox_shift = 8}) == Box{100, 106, 200, 220});
  CHECK(box_of(face_at(100), {.bbox_shift = -8}) == Box{100, 74, 200, 220});
}

TEST_CASE(
    "a bridge that is shifted below the chin is the lowest point, and the detector's box counts") {
  CHECK(box_of(face_at(100), {.bbox_shift = 100}) == Box{20, 30, 90, 110});
}

TEST_CASE("landmarks left of the picture give the detector's box; truncation is toward zero") {
  CHECK(box_of(face_at(-1), {}) == Box{20, 30, 90, 110});
  CHECK(box_of(face_at(-0.9), {})->x1 == 0);
}

TEST_CASE("landmarks in one point give the detector's box") {
  CHECK(box_of(std::vector<PosePoint>(133, {50, 50, 1}), {}) == Box{20, 30, 90, 110});
}

TEST_CASE("the box stays inside the frame") {
  CHECK(box_of(face_at(100), {}, 215) == Box{100, 90, 200, 215});
  CHECK(box_of(face_at(600), {}) == Box{600, 90, 640, 220});
  std::vector<PosePoint> high = face_at(100);
  high[k_bridge].y = 60;
  CHECK(box_of(high, {}) == Box{100, 0, 200, 220});
  CHECK(box_of(face_at(700), {}) == std::nullopt);
}

TEST_CASE("a frame in which the detector sees no face has none") {
  const StillClip still(3);
  int frame = 0;
  LandmarkFaces source = looking([&](ConstImageView) -> LandmarkFaces::Seen {
    if (frame++ == 1) return {};
    return {Box{50, 30, 110, 100}, std::vector<PosePoint>(133)};
  });
  const Box detected{50, 30, 110, 110};
  CHECK(still.boxes(source) == FaceBoxes{detected, std::nullopt, detected});
}

TEST_CASE("a clip without any face, or with a tiny one, is refused") {
  const StillClip still(2);
  LandmarkFaces none = looking([](ConstImageView) { return LandmarkFaces::Seen{}; });
  CHECK_THROWS_WITH(still.boxes(none), Catch::Contains("no face was found"));
  LandmarkFaces tiny = looking([](ConstImageView) {
    return LandmarkFaces::Seen{Box{10, 10, 40, 60}, std::vector<PosePoint>(133)};
  });
  CHECK_THROWS_WITH(still.boxes(tiny), Catch::Contains("30 pixels wide"));
}

TEST_CASE("boxes of other options or networks are made anew") {
  const auto identity = [](const char* networks, const LandmarkBoxOptions& options) {
    return LandmarkFaces({}, networks, options).identity();
  };
  const std::string own = identity("a", {});
  CHECK(own == identity("a", {}));
  CHECK(own != identity("b", {}));
  CHECK(own != identity("a", {.bbox_shift = 1}));
  CHECK(own != identity("a", {.extra_margin = 11}));
}

TEST_CASE("an avatar by MuseTalk's networks has the boxes of its frames' landmarks, and says so") {
  const TemporaryDirectory base;
  const auto landmarks_file = tests::write_dwpose(base / "models");
  const auto detector_file = tests::write_s3fd(base / "models");
  const StillClip still(2);
  LandmarkFaces source = LandmarkFaces::open(base / "models", {.bbox_shift = 3});
  const FaceBoxes boxes = still.boxes(source);
  const FaceLandmarks landmarks(landmarks_file);
  const FaceDetector detector(detector_file);
  for (std::size_t i = 0; i < 2; ++i) {
    const Image frame = still.clip->frame(static_cast<std::int64_t>(i));
    const auto detected = detector.face(frame.view());
    REQUIRE(detected);
    CHECK(boxes[i] ==
          landmark_box(landmarks.points(frame.view()), *detected, {.bbox_shift = 3}, 160, 120));
  }
  const AvatarInfo info =
      prepare({.source = still.base / "in.mp4",
               .output = base / "ada",
               .id = {},
               .faces = std::make_shared<LandmarkFaces>(LandmarkFaces::open(base / "models", {})),
               .latents = std::nullopt},
              {}, {});
  CHECK(info.face_source == "dwpose");
}

TEST_CASE("a detector that sees nothing ends the preparation of a clip") {
  const TemporaryDirectory base;
  tests::write_dwpose(base / "models");
  tests::write_s3fd(base / "models", false);
  const StillClip still(1);
  LandmarkFaces source = LandmarkFaces::open(base / "models", {});
  CHECK_THROWS_WITH(still.boxes(source), Catch::Contains("no face was found"));
}

TEST_CASE("a network's file that is not there or lacks a tensor is refused by name") {
  const TemporaryDirectory base;
  tests::write_s3fd(base / "models");
  CHECK_THROWS_WITH(LandmarkFaces::open(base / "models", {}), Catch::Contains("dwpose"));
  tests::write_dwpose(base / "models", "head.gau.ln.g");
  CHECK_THROWS_WITH(LandmarkFaces::open(base / "models", {}), Catch::Contains("head.gau.ln.g"));
  tests::write_dwpose(base / "models");
  tests::write_s3fd(base / "models", true, "fc6.bias");
  CHECK_THROWS_WITH(LandmarkFaces::open(base / "models", {}), Catch::Contains("fc6.bias"));
}
