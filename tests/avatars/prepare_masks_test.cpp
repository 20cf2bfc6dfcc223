// Masks are written as they are made, and made once.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/mask_log.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/folder_contents.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::contents;
using tests::k_box;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr int k_frames = 12;

// Boxes that move, none in frame 4, with landmarks. Counts how often it was asked.
class CountingFaces : public FaceSource {
 public:
  std::string name() const override { return "dlib"; }
  std::string identity() const override { return "counting"; }
  FaceBoxes find(Clip&, const FrameRate&, const fs::path&, const Progress&,
                 const std::stop_token&) override {
    ++asked;
    FaceBoxes boxes;
    for (int i = 0; i < k_frames; ++i) boxes.emplace_back(k_box.moved(i / 2, 0));
    boxes[4].reset();
    return boxes;
  }
  std::vector<FacePoints> landmarks() const override {
    std::vector<FacePoints> points(k_frames, FacePoints(k_face_point_count, {60, -3}));
    points[4].clear();
    return points;
  }

  int asked = 0;
};

// Each mask is another grey and another size. Counts what it makes.
class CountingMasks : public MaskSource {
 public:
  std::string name() const override { return "skin"; }
  std::string identity() const override { return "counting"; }
  FaceMask mask(ConstImageView frame, const Box& box) override {
    if (made == fails_after) throw Error(Code::failed, "No space left on device");
    ++made;
    FaceMask mask = lower_face_mask(box);
    for (std::uint8_t& value : mask.pixels.pixels)
      if (value > 0) value = static_cast<std::uint8_t>(1 + *frame.at(box.x1, box.y1) % 200);
    return mask;
  }

  int made = 0, fails_after = -1;
};

struct Work {
  explicit Work(const fs::path& base) {
    if (!fs::exists(base / "in.mp4"))
      tests::write_clip(base / "in.mp4", tests::moving_face(k_frames));
    options.source = base / "in.mp4";
    options.output = base / "ada";
    options.id = "ada";
    options.faces = faces;
    options.masks = masks;
  }

  // Stops once `count` masks are made.
  void run_until(std::size_t count) {
    std::stop_source stop;
    const auto interrupt = [&](std::string_view stage, std::size_t done, std::size_t) {
      if (stage == "masks" && done >= count) stop.request_stop();
    };
    CHECK_THROWS_AS(prepare(options, interrupt, stop.get_token()), Error);
  }

  std::shared_ptr<CountingFaces> faces = std::make_shared<CountingFaces>();
  std::shared_ptr<CountingMasks> masks = std::make_shared<CountingMasks>();
  PrepareOptions options{};
};

std::map<std::string, std::string> uninterrupted() {
  const TemporaryDirectory base;
  const Work work(base.path());
  prepare(work.options, {}, {});
  return contents(base / "ada");
}

}  // namespace

TEST_CASE("an interrupted preparation goes on behind the last mask, with the faces it had found") {
  const TemporaryDirectory base;
  Work work(base.path());
  work.run_until(5);
  CHECK(work.faces->asked == 1);
  CHECK(work.masks->made == 5);
  prepare(work.options, {}, {});
  CHECK(work.faces->asked == 1);
  CHECK(work.masks->made == 11);  // one a face
  CHECK(contents(base / "ada") == uninterrupted());
}

TEST_CASE("a preparation that the machine ends goes on behind the last mask, and says so") {
  const TemporaryDirectory base;
  Work work(base.path());
  work.masks->fails_after = 5;
  CHECK_THROWS_WITH(prepare(work.options, {}, {}),
                    "No space left on device; the same command goes on from what is done");
  CHECK_FALSE(fs::exists(base / "ada"));
  work.masks->fails_after = -1;
  prepare(work.options, {}, {});
  CHECK(work.faces->asked == 1);
  CHECK(work.masks->made == 11);
  CHECK(contents(base / "ada") == uninterrupted());
}

TEST_CASE("a mask is on disk as soon as it is made") {
  const TemporaryDirectory base;
  const Work work(base.path());
  std::uintmax_t before = 0;
  const auto grows = [&](std::string_view stage, std::size_t, std::size_t) {
    if (stage != "masks") return;
    const std::uintmax_t size = fs::file_size(base / "ada.partial/masks.log");
    CHECK(size > before + 500);
    before = size;
  };
  prepare(work.options, grows, {});
  CHECK(before > 0);
}

TEST_CASE("masks and faces that a killed run left half written are made again") {
  const TemporaryDirectory base;
  Work work(base.path());
  work.run_until(5);
  const fs::path log = base / "ada.partial/masks.log";
  SECTION("half a mask") {
    fs::resize_file(log, fs::file_size(log) - 7);
    prepare(work.options, {}, {});
    CHECK(work.masks->made == 5 + 7);
  }
  SECTION("no faces") {
    fs::resize_file(base / "ada.partial/found.json", 40);
    prepare(work.options, {}, {});
    CHECK(work.faces->asked == 2);
    CHECK(work.masks->made == 11);
  }
  CHECK(contents(base / "ada") == uninterrupted());
}

TEST_CASE("masks are taken up in whole batches, and only where they fit their faces") {
  const TemporaryDirectory base;
  const std::vector<Box> faces{{10, 10, 60, 70}, {10, 10, 70, 90}, {30, 40, 90, 99}};
  {
    MaskLog log(base / "masks.log");
    CHECK(log.resume(faces, 1) == 0);
    for (const Box& face : faces) log.append(lower_face_mask(face));
    CHECK_FALSE(log.all_empty());
  }
  CHECK(MaskLog(base / "masks.log").resume(faces, 2) == 3);  // all
  std::vector<Box> more = faces;
  more.push_back(k_box);
  CHECK(MaskLog(base / "masks.log").resume(more, 2) == 2);
  CHECK(MaskLog(base / "masks.log").resume({faces[0], {0, 0, 10, 10}}, 1) == 1);
  MaskLog log(base / "masks.log");
  CHECK(log.resume(faces, 1) == 1);
  CHECK(log.region(0) == lower_face_mask(faces[0]).region);
  CHECK(log.count() == 1);
}
