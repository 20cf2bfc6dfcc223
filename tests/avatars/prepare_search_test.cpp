// The search for faces in a clip: it goes on where it was interrupted, and keeps to one person.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/cascade_faces.h"
#include "avatars/faces/landmark_faces.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "core/files/data_directory.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/folder_contents.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::contents;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr int k_searched_frames = 12;

PrepareOptions search(const fs::path& base, std::shared_ptr<FaceSource> faces) {
  if (!fs::exists(base / "in.mp4"))
    tests::write_clip(base / "in.mp4", tests::moving_face(k_searched_frames));
  return {.source = base / "in.mp4",
          .output = base / "ada",
          .id = "ada",
          .faces = std::move(faces),
          .latents = std::nullopt};
}

// After so many reports of the search.
void interrupt(const PrepareOptions& what, int reports) {
  std::stop_source stop;
  const auto progress = [&](std::string_view stage, std::size_t, std::size_t) {
    if (stage == "faces" && --reports == 0) stop.request_stop();
  };
  CHECK_THROWS_AS(prepare(what, progress, stop.get_token()), Error);
}

// How many times the search reports.
int reports_of(const PrepareOptions& what) {
  int reports = 0;
  const auto count = [&](std::string_view stage, std::size_t, std::size_t) {
    reports += stage == "faces";
  };
  prepare(what, count, {});
  return reports;
}

// Networks that count the pictures that they see.
struct CountingNets {
  int detected = 0, marked = 0;

  FaceNets nets(std::size_t batch) {
    const auto detect = [this](FaceNets::Pictures pictures) {
      detected += static_cast<int>(pictures.size());
      return std::vector<Detections>(pictures.size(), Detections{tests::k_box});
    };
    const auto points = [this](FaceNets::Pictures pictures) {
      std::vector<std::vector<PosePoint>> all;
      for (std::size_t i = 0; i < pictures.size(); ++i)
        all.emplace_back(133, PosePoint{40.0 + marked++, 50, 1});
      return all;
    };
    return {.detect = detect, .points = points, .batch = batch};
  }
};

std::shared_ptr<LandmarkFaces> pairs_by(CountingNets& nets) {
  return std::make_shared<LandmarkFaces>(nets.nets(2), "none", LandmarkBoxOptions{});
}

}  // namespace

TEST_CASE("an interrupted search by cascades goes on behind the last frame") {
  const TemporaryDirectory base, other;
  const auto what = search(base.path(), std::make_shared<CascadeFaces>());
  interrupt(what, 5);
  CHECK(reports_of(what) == k_searched_frames - 5);
  prepare(search(other.path(), std::make_shared<CascadeFaces>()), {}, {});
  CHECK(contents(base / "ada") == contents(other / "ada"));
}

TEST_CASE("an interrupted search by networks goes on behind the last batch") {
  const TemporaryDirectory base, other;
  CountingNets counting, uninterrupted;
  const auto what = search(base.path(), pairs_by(counting));
  interrupt(what, GENERATE(3, 8));  // among the detections, among the landmarks
  prepare(what, {}, {});
  CHECK(counting.detected == k_searched_frames);
  CHECK(counting.marked == k_searched_frames);
  prepare(search(other.path(), pairs_by(uninterrupted)), {}, {});
  CHECK(contents(base / "ada") == contents(other / "ada"));
}

TEST_CASE("a search takes up nothing that was found with other options") {
  const TemporaryDirectory base;
  interrupt(search(base.path(), std::make_shared<CascadeFaces>()), 5);
  CHECK(fs::exists(base / "ada.partial/search/haar_alt2.log"));
  const auto other = std::make_shared<CascadeFaces>(FollowOptions{.smooth = false});
  CHECK(reports_of(search(base.path(), other)) == k_searched_frames);
}

TEST_CASE("of two people who are shown one after the other one is followed") {
  const TemporaryDirectory base;
  const Bundle ada = Bundle::open(data_directory() / "demo/avatars/ada");
  const Bundle theo = Bundle::open(data_directory() / "demo/avatars/theo");
  std::vector<Image> frames;
  std::vector<bool> is_ada;
  const auto show = [&](const Bundle& who, std::int64_t first, int count) {
    for (int i = 0; i < count; ++i) {
      frames.push_back(who.frame(first + i));
      is_ada.push_back(&who == &ada);
    }
  };
  show(ada, 0, 30);
  show(theo, 132, 24);  // where the first cascade sees him best, through his glasses
  show(ada, 30, 15);
  show(theo, 136, 8);  // as short as a dropout
  show(ada, 45, 10);
  tests::write_clip(base / "in.mp4", frames);
  Clip clip(base / "in.mp4", ada.info().width, ada.info().height);
  const FaceBoxes first = CascadeFaces({.face = 1}).find(clip, 25, {}, {}, {});
  const FaceBoxes second = CascadeFaces({.face = 2}).find(clip, 25, {}, {}, {});
  int found = 0, found_second = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CAPTURE(i);
    CHECK((!first[i] || is_ada[i]));
    CHECK((!second[i] || !is_ada[i]));
    found += first[i].has_value();
    found_second += second[i].has_value();
  }
  CHECK(found == 55);
  CHECK(found_second >= 17);
}

TEST_CASE("beside a person whom the first cascade sees well, one with glasses is found, too") {
  const TemporaryDirectory base;
  const Bundle ada = Bundle::open(data_directory() / "demo/avatars/ada");
  const Bundle theo = Bundle::open(data_directory() / "demo/avatars/theo");
  const int width = ada.info().width, height = ada.info().height;
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  std::vector<Image> frames;
  for (int i = 0; i < 6; ++i) {
    const Image left = ada.frame(i), right = theo.frame(i);
    Image both(2 * width, height);
    std::uint8_t* to = both.pixels.data();
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
      for (const Image* one : {&left, &right})
        to = std::ranges::copy_n(one->pixels.data() + y * row, static_cast<std::ptrdiff_t>(row), to)
                 .out;
    frames.push_back(std::move(both));
  }
  tests::write_clip(base / "in.mp4", frames);
  Clip clip(base / "in.mp4", 2 * width, height);
  fs::create_directory(base / "notes");
  std::vector<bool> is_left;  // of the two
  for (const int number : {1, 2}) {
    const FaceBoxes boxes = CascadeFaces({.face = number}).find(clip, 25, base / "notes", {}, {});
    for (const auto& box : boxes) {
      REQUIRE(box);
      is_left.push_back(box->x1 < width);
    }
  }
  CHECK(std::set(is_left.begin(), is_left.begin() + 6) !=
        std::set(is_left.begin() + 6, is_left.end()));
  CHECK(std::ranges::count(is_left, true) == 6);
}

TEST_CASE("large pictures are coded with fewer of them in memory") {
  const TemporaryDirectory base;
  const auto planned = [&](int width, int height) {
    encode_pictures(1, [&](std::int64_t) { return Image(width, height); }, {.fps = 25},
                    base / "out.mp4", {}, {});
    std::ifstream in(base / "out.mp4", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::size_t at = bytes.find("rc_lookahead=");  // x264 writes its settings into the stream
    REQUIRE(at != std::string::npos);
    return std::stoi(bytes.substr(at + 13));
  };
  CHECK(planned(1920, 1080) == 40);
  CHECK(planned(3840, 2160) == 10);
}
