// The avatar that comes with navtalk.
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "avatars/bundle.h"
#include "avatars/given_faces.h"
#include "avatars/latents.h"
#include "avatars/prepare.h"
#include "core/checkpoint/checkpoint.h"
#include "core/data_directory.h"
#include "gpu/model.h"
#include "gpu/model_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the demo avatar is what preparation makes of the demo clip") {
  const tests::TemporaryDirectory base;
  const fs::path demo = data_directory() / "demo";
  const auto about = nlohmann::json::parse(bytes_of(demo / "avatar.json"));
  const auto box = about.at("face_box").get<std::vector<int>>();
  prepare(
      {.source = demo / about.at("clip").get<std::string>(),
       .output = base / "ada",
       .id = {},
       .faces = std::make_shared<GivenFaces>(Box{box[0], box[1], box[0] + box[2], box[1] + box[3]}),
       .latents = std::nullopt},
      {}, {});
  AvatarInfo shipped = read_avatar_info(demo / "avatars/ada/avatar.json");
  shipped.model_checksum.clear();  // made without latents here
  CHECK(shipped == read_avatar_info(base / "ada/avatar.json"));
  for (const char* file : {"frames.mp4", "faces.json", "masks.safetensors"}) {
    INFO(file);
    CHECK(bytes_of(demo / "avatars/ada" / file) == bytes_of(base / "ada" / file));
  }
}

TEST_CASE("the demo avatar opens, with a face in every frame") {
  const Bundle bundle = Bundle::open(data_directory() / "demo/avatars/ada");
  CHECK(bundle.info().id == "ada");
  CHECK(bundle.info().faceless_frames == 0);
  CHECK(bundle.frame(bundle.frame_count() - 1).width == bundle.info().width);
}

TEST_CASE("the demo avatar's latents are those of the demo model") {
  const fs::path demo = data_directory() / "demo";
  const Bundle bundle = Bundle::open(demo / "avatars/ada");
  const ModelFiles files = find_model_files(demo / "models");
  REQUIRE(bundle.info().model_checksum == sha256_file(files.vae));

  Model model = Model::load({.models = demo / "models",
                             .precision = Precision::fp32,
                             .whisper = false,
                             .unet = false,
                             .vae_decoder = false});
  const Image crop = face_crop(bundle.frame(60).view(), bundle.face(60)->placement.box);
  const std::array crops{ConstImageView(crop.view())};
  const NdArray<float> fresh = model.encode(crops);
  const NdArray<float> stored = bundle.latent(60);
  for (std::size_t i = 0; i < fresh.values.size(); ++i) {
    REQUIRE(stored.values[i] == Approx(fresh.values[i]).margin(2e-3));
  }
}
