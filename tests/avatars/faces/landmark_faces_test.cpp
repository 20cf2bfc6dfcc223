#include "avatars/faces/landmark_faces.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <fstream>
#include <numbers>
#include <sstream>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/preview.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "tests/avatars/drawn_face.h"
#include "tests/gpu/model/face_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

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

// A round head that is turned by `degrees` to the right, its far side at its outline.
std::vector<PosePoint> turned_face(double degrees) {
  const auto across = [&](double own) {
    const double angle = std::clamp(own + degrees, -90.0, 90.0) * std::numbers::pi / 180;
    return 80 + 35 * std::sin(angle);
  };
  std::vector<PosePoint> points(133, {0, 0, 1});
  for (std::size_t i = 0; i < k_face_points; ++i) {
    PosePoint& point = points[k_first_face_point + i];
    const auto number = static_cast<double>(i);
    if (i <= 16) {  // the jaw
      point = {across(-90 + number * 180 / 16), 60 + 40 * std::sin(number * std::numbers::pi / 16),
               1};
    } else if (i >= 27 && i <= 30) {  // the nose, down to its tip
      point = {across(0), 50 + (number - 27) * 6, 1};
    } else {  // eyes and brows above it, nostrils and mouth below
      point = {across(i >= 48 ? (number - 58) * 2 : (number - 36) * 4), i >= 48 ? 82.0 : 50.0, 1};
    }
  }
  return points;
}

constexpr Box k_detected{20, 30, 90, 100};

std::optional<Box> box_of(const std::vector<PosePoint>& points, const LandmarkBoxOptions& options,
                          int height = 480) {
  return landmark_box(face_points(points), k_detected, options, 640, height);
}

struct StillClip {
  TemporaryDirectory base;
  std::unique_ptr<Clip> clip;
  explicit StillClip(int frames) {
    tests::write_clip(base / "in.mp4", tests::moving_face(frames));
    clip = std::make_unique<Clip>(base / "in.mp4", 160, 120);
  }
  FaceBoxes boxes(FaceSource& source) const { return source.find(*clip, 25, {}, {}, {}); }
};

// What both networks see of a frame with one person at most.
struct Seen {
  std::optional<Box> detected;
  std::vector<PosePoint> points;
};

// Networks that see one picture after the other.
FaceNets one_by_one(std::function<Detections(ConstImageView)> detect,
                    std::function<std::vector<PosePoint>(ConstImageView)> points) {
  const auto each = [](const auto& look) {
    return [look](FaceNets::Pictures pictures) {
      std::vector<decltype(look(pictures[0]))> seen;
      for (const ConstImageView& picture : pictures) seen.push_back(look(picture));
      return seen;
    };
  };
  return {.detect = each(detect), .points = each(points)};
}

LandmarkFaces looking(std::function<Seen()> look) {
  const auto seen =
      std::make_shared<std::deque<Seen>>();  // with a face, and without its landmarks yet
  const auto detect = [seen, look = std::move(look)](ConstImageView) {
    const Seen one = look();
    if (!one.detected) return Detections();
    seen->push_back(one);
    return Detections{*one.detected};
  };
  const auto points = [seen](ConstImageView) {
    const Seen one = seen->front();
    seen->pop_front();
    return one.points;
  };
  return {one_by_one(detect, points), "none", {}};
}

// The largest, of the largest value.
double relative_difference(const NdArray<float>& a, const NdArray<float>& b) {
  REQUIRE(a.shape == b.shape);
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    difference = std::max(difference, std::abs(double{a.values[i]} - double{b.values[i]}));
    largest = std::max(largest, std::abs(double{b.values[i]}));
  }
  return difference / largest;
}

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

TEST_CASE("a shift that turns the box over leaves no box of the landmarks") {
  const FacePoints points = face_points(turned_face(5));
  CHECK(gives_box(points, {}));
  CHECK_FALSE(gives_box(points, {.bbox_shift = 900}));
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
  LandmarkFaces source = looking([&]() -> Seen {
    if (frame++ == 1) return {};
    return {Box{50, 30, 110, 100}, std::vector<PosePoint>(133)};
  });
  const Box detected{50, 30, 110, 110};
  CHECK(still.boxes(source) == FaceBoxes{detected, std::nullopt, detected});
}

TEST_CASE("among several people the landmarks come from around the chosen face") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", std::vector<Image>(4, Image(400, 300)));
  Clip clip(base / "in.mp4", 400, 300);
  const Box large{40, 60, 140, 180}, small{250, 70, 330, 170};
  std::vector<Box> seen;  // sizes of what the landmarks' network saw
  int frame = 0;
  const FaceNets nets = one_by_one(
      [&](ConstImageView) {
        // The best score changes from frame to frame; in the third one the small face is away.
        ++frame;
        if (frame % 4 == 3) return Detections{large};
        return frame % 2 == 1 ? Detections{large, small} : Detections{small, large};
      },
      [&](ConstImageView picture) {
        seen.push_back({0, 0, picture.width, picture.height});
        return std::vector<PosePoint>(133);  // no landmarks: the detection counts
      });
  LandmarkFaces first(nets, "none", {});
  const Box box_of_large{40, 60, 140, 190}, box_of_small{250, 70, 330, 180};
  CHECK(first.find(clip, 25, {}, {}, {}) == FaceBoxes(4, box_of_large));
  // Right of the large face the view ends half way to the small one: at (90 + 290) / 2.
  const Box beside{0, 0, 190, 300}, alone{0, 0, 240, 300};
  CHECK(seen == std::vector<Box>{beside, beside, alone, beside});  // each frame once

  LandmarkFaces second(nets, "none", {}, 2);
  CHECK(second.find(clip, 25, {}, {}, {}) ==
        FaceBoxes{box_of_small, box_of_small, std::nullopt, box_of_small});
  CHECK(seen.back() == Box{0, 0, 210, 300});
  CHECK(second.identity() != first.identity());
  LandmarkFaces third(nets, "none", {}, 3);
  CHECK_THROWS(third.find(clip, 25, {}, {}, {}));
}

TEST_CASE("landmarks of a part of a frame are those of the frame") {
  const TemporaryDirectory base;
  tests::write_clip(base / "in.mp4", {Image(400, 300), Image(400, 300)});
  Clip clip(base / "in.mp4", 400, 300);
  const Detections both{{20, 60, 100, 150}, {250, 70, 350, 190}};
  LandmarkFaces source(one_by_one([&](ConstImageView) { return both; },
                                  [](ConstImageView) { return turned_face(5); }),
                       "none", {}, 1);
  source.find(clip, 25, {}, {}, {});
  // The larger face is that at the right. Its view begins 100 pixels left of it, but not before the middle between both.
  FacePoints expected = face_points(turned_face(5));
  CHECK(source.landmarks()[0][8].x - expected[8].x == 180);
  CHECK(source.landmarks()[0][8].y == expected[8].y);
}

TEST_CASE("a face from the side is one whose nose lies at its outline") {
  for (const double degrees : {0, 20, 45, 60}) {
    CAPTURE(degrees);
    CHECK_FALSE(is_profile(face_points(turned_face(degrees))));
    CHECK_FALSE(is_profile(face_points(turned_face(-degrees))));
  }
  for (const double degrees : {75, 90}) {
    CAPTURE(degrees);
    CHECK(is_profile(face_points(turned_face(degrees))));
    CHECK(is_profile(face_points(turned_face(-degrees))));
  }
  CHECK_FALSE(is_profile(face_points(std::vector<PosePoint>(133, {50, 50, 1}))));
  std::vector<PosePoint> scattered = turned_face(90);
  scattered[k_first_face_point + 8].y = 10;  // a chin above the eyes
  CHECK_FALSE(is_profile(face_points(scattered)));
}

TEST_CASE("frames that show the face from the side are left out, the others keep their landmarks") {
  const StillClip still(3);
  int frame = 0;
  LandmarkFaces source = looking([&]() -> Seen {
    return {Box{45, 20, 115, 100}, turned_face(frame++ == 1 ? 85 : 5)};
  });
  const FaceBoxes boxes = still.boxes(source);
  CHECK(boxes[0] == landmark_box(face_points(turned_face(5)), {45, 20, 115, 100}, {}, 160, 120));
  CHECK_FALSE(boxes[1]);
  CHECK(boxes[2] == boxes[0]);
  CHECK(source.landmarks() ==
        std::vector<FacePoints>{face_points(turned_face(5)), {}, face_points(turned_face(5))});
}

TEST_CASE("an avatar keeps the landmarks of its boxes, and its contact sheet shows them") {
  const StillClip still(2);
  const auto source = std::make_shared<LandmarkFaces>(looking([] {
    return Seen{Box{45, 20, 115, 100}, turned_face(5)};
  }));
  prepare({.source = still.base / "in.mp4",
           .output = still.base / "ada",
           .id = {},
           .faces = source,
           .latents = std::nullopt},
          {}, {});
  const Bundle bundle = Bundle::open(still.base / "ada");
  const FacePoints points = face_points(turned_face(5));
  CHECK(bundle.face(1)->landmarks == points);
  const Image shown = preview(bundle);
  for (const FacePoint& point : points) {
    const std::uint8_t* pixel = shown.view().at(point.x, point.y);
    CHECK(int{pixel[0]} == 255);
    CHECK(int{pixel[2]} == 0);
  }
  // Anything but the 68 points is refused.
  const fs::path file = still.base / "ada" / "faces.json";
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::string wrong = text.str();
  wrong.replace(wrong.find("\"landmarks\":["), 13, "\"landmarks\":[1,");
  std::ofstream(file) << wrong;
  CHECK_THROWS_WITH(Bundle::open(still.base / "ada"), Catch::Contains("landmarks"));
}

TEST_CASE("a clip without any face, or with a tiny one, is refused") {
  const StillClip still(2);
  LandmarkFaces none = looking([] { return Seen{}; });
  CHECK_THROWS_WITH(still.boxes(none), Catch::Contains("no face was found"));
  LandmarkFaces tiny = looking([] {
    return Seen{Box{10, 10, 40, 60}, std::vector<PosePoint>(133)};
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
    CHECK(boxes[i] == landmark_box(face_points(landmarks.points(frame.view())), *detected,
                                   {.bbox_shift = 3}, 160, 120));
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

TEST_CASE("pictures that go through the networks together have the scores of each alone") {
  const TemporaryDirectory base;
  const FaceLandmarks landmarks(tests::write_dwpose(base / "models"));
  const FaceDetector detector(tests::write_s3fd(base / "models"));
  std::vector<Image> frames{tests::moving_face(1).front(), Image(160, 120), Image(160, 120)};
  for (std::size_t i = 0; i < frames[2].pixels.size(); ++i)
    frames[2].pixels[i] = static_cast<std::uint8_t>(i * i * 2654435761U >> 11U);
  std::vector<ConstImageView> pictures;
  for (const Image& frame : frames) pictures.push_back(frame.view());
  const std::vector<PoseBins> bins = landmarks.bins(pictures);
  const std::vector<FaceScores> scores = detector.scores(pictures);
  REQUIRE(bins.size() == 3);
  REQUIRE(scores.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const PoseBins one = landmarks.bins(pictures[i]);
    CHECK(relative_difference(bins[i].x, one.x) < 1e-5);
    CHECK(relative_difference(bins[i].y, one.y) < 1e-5);
    const FaceScores faces = detector.scores(pictures[i]);
    CHECK(relative_difference(scores[i].scores, faces.scores) < 1e-5);
    CHECK(relative_difference(scores[i].offsets, faces.offsets) < 1e-5);
    CHECK(scores[i].scales.size() == faces.scales.size());
  }
  CHECK(relative_difference(bins[0].x, bins[2].x) > 1e-4);  // three different pictures
}

TEST_CASE("an avatar whose frames go through the networks together has the same faces") {
  const TemporaryDirectory base;
  tests::write_dwpose(base / "models");
  tests::write_s3fd(base / "models");
  const StillClip still(5);
  LandmarkFaces alone = LandmarkFaces::open(base / "models", {});
  LandmarkFaces together = LandmarkFaces::open(base / "models", {}, {.batch = 3});
  CHECK(still.boxes(together) == still.boxes(alone));
  CHECK(together.landmarks().size() == alone.landmarks().size());
  CHECK(together.identity() != alone.identity());
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
