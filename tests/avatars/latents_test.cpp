// Latents are made in batches, kept by frame, and taken up again after an interrupt. A function
// that is easy to predict stands for the model.
#include "avatars/bundle/latents/latents.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/bundle.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/latent_log.h"
#include "avatars/prepare/prepare.h"
#include "core/base/error.h"
#include "tests/avatars/drawn_face.h"
#include "tests/avatars/fake_model.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using tests::FakeModel;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

using tests::k_box;
using tests::k_checksum;

// 20 frames, the box moving with the picture; frame 4 has no face.
PrepareOptions options(const fs::path& base, FakeModel& model) {
  if (!fs::exists(base / "in.mp4")) tests::write_clip(base / "in.mp4", tests::moving_face(20));
  FaceBoxes boxes;
  for (int i = 0; i < 20; ++i) boxes.push_back(k_box.moved(i / 2, 0));
  boxes[4].reset();
  return {.source = base / "in.mp4",
          .output = base / "ada",
          .id = "ada",
          .faces = std::make_shared<GivenFaces>(boxes),
          .latents = model.named(k_checksum)};
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Stops once `faces` latents are made.
void prepare_until(const PrepareOptions& what, std::size_t faces) {
  std::stop_source stop;
  const auto interrupt = [&](std::string_view stage, std::size_t done, std::size_t) {
    if (stage == "latents" && done >= faces) stop.request_stop();
  };
  CHECK_THROWS_AS(prepare(what, interrupt, stop.get_token()), Error);
}

}  // namespace

TEST_CASE("each frame with a face gets its latent, in batches; faceless frames get none") {
  const TemporaryDirectory base;
  FakeModel model;
  const AvatarInfo info = prepare(options(base.path(), model), {}, {});
  CHECK(info.model_checksum == k_checksum);
  CHECK(model.faces == 19);
  CHECK(model.batches == 3);
  const Bundle bundle = Bundle::open(base / "ada");
  for (std::int64_t i = 0; i < 20; ++i) {
    if (i == 4) continue;
    const Image frame = bundle.frame(i);
    const Image crop = face_crop(frame.view(), bundle.face(i)->placement.box);
    const ConstImageView view = crop.view();
    CHECK(bundle.latent(i) == FakeModel()(std::span(&view, 1)));
  }
  CHECK_FALSE(bundle.face(4));
}

TEST_CASE("latents made later from the bundle are those that preparation makes") {
  const TemporaryDirectory base;
  FakeModel model;
  PrepareOptions what = options(base.path(), model);
  prepare(what, {}, {});
  what.output = base / "bare";
  what.latents.reset();
  prepare(what, {}, {});
  const Bundle with = Bundle::open(base / "ada");
  Bundle without = Bundle::open(base / "bare");
  CHECK(without.info().model_checksum.empty());
  without.ensure_latents(model.named(k_checksum), LatentCache());
  for (const std::int64_t i : {0, 3, 5, 19}) CHECK(without.latent(i) == with.latent(i));
}

TEST_CASE("latents of the model at hand are not made again, those of another are") {
  const TemporaryDirectory base;
  FakeModel model;
  prepare(options(base.path(), model), {}, {});
  Bundle bundle = Bundle::open(base / "ada");
  FakeModel later;
  bundle.ensure_latents(later.named(k_checksum), LatentCache());
  CHECK(later.faces == 0);
  bundle.ensure_latents(later.named(std::string(64, 'd')), LatentCache());
  CHECK(later.faces == 19);
  bundle.ensure_latents(later.named(std::string(64, 'd')), LatentCache());
  CHECK(later.faces == 19);
}

TEST_CASE("interrupted encoding goes on behind the batches that stand") {
  const TemporaryDirectory base;
  FakeModel straight, first, second;
  PrepareOptions what = options(base.path(), straight);
  prepare(what, {}, {});
  const std::string expected = bytes_of(base / "ada/latents.safetensors");
  fs::rename(base / "ada", base / "straight");

  prepare_until(options(base.path(), first), 8);
  CHECK(first.faces == 8);
  CHECK_FALSE(fs::exists(base / "ada"));
  prepare(options(base.path(), second), {}, {});
  CHECK(second.faces == 11);
  CHECK(bytes_of(base / "ada/latents.safetensors") == expected);
  CHECK_FALSE(fs::exists(base / "ada/latents.log"));
  CHECK_FALSE(fs::exists(base / "ada/prepare.json"));
}

TEST_CASE("a half-written latent is made again") {
  const TemporaryDirectory base;
  FakeModel first, second;
  prepare_until(options(base.path(), first), 16);
  const fs::path log = base / "ada.partial/latents.log";
  REQUIRE(fs::file_size(log) == 16 * k_latent_values * sizeof(float));
  fs::resize_file(log, fs::file_size(log) - 100);
  prepare(options(base.path(), second), {}, {});
  CHECK(second.faces == 11);  // the second batch is cut, so it is made whole
}

TEST_CASE("latents of another model are not taken up") {
  const TemporaryDirectory base;
  FakeModel first, second;
  prepare_until(options(base.path(), first), 8);
  PrepareOptions other = options(base.path(), second);
  other.latents->model_checksum = std::string(64, 'd');
  prepare(other, {}, {});
  CHECK(second.faces == 19);
}

TEST_CASE("latents that belong to another model than avatar.json says are refused") {
  const TemporaryDirectory base;
  FakeModel model;
  prepare(options(base.path(), model), {}, {});
  AvatarInfo info = read_avatar_info(base / "ada/avatar.json");
  info.model_checksum = std::string(64, 'd');
  write_avatar_info(base / "ada/avatar.json", info);
  CHECK_THROWS_WITH(Bundle::open(base / "ada"), Catch::Contains("model_checksum differs"));
}

TEST_CASE("a latent that is not finite is refused with its frame") {
  const TemporaryDirectory base;
  FakeModel model;
  prepare(options(base.path(), model), {}, {});
  const Latents good(base / "ada/latents.safetensors", read_avatar_info(base / "ada/avatar.json"));
  const Faces faces =
      read_faces(base / "ada/faces.json", read_avatar_info(base / "ada/avatar.json"));
  std::vector<float> values(19 * k_latent_values, 1.0F);
  values[2 * k_latent_values + 5] = NAN;
  const Latents bad(faces, values);
  CHECK(bad.at(1).values == std::vector<float>(k_latent_values, 1.0F));
  CHECK_THROWS_WITH(bad.at(2), Catch::Contains("frame 2"));
}
