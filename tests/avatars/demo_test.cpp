// The avatar that comes with navtalk.
#include <array>
#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/latents/latents.h"
#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/data_directory.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
namespace fs = std::filesystem;

namespace {

std::string demo_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the demo avatars are what preparation makes of their clips") {
  const fs::path avatars = data_directory() / "demo/avatars";
  for (const char* id : {"ada", "theo"}) {
    INFO(id);
    const tests::TemporaryDirectory base;
    const Bundle bundle = Bundle::open(avatars / id);
    prepare({.source = avatars / id / "frames.mp4",
             .output = base / id,
             .id = {},
             .faces = std::make_shared<GivenFaces>(bundle.face(0)->placement.box),
             .loop = true,
             .voice = bundle.info().voice,
             .latents = std::nullopt},
            {}, {});
    AvatarInfo shipped = read_avatar_info(avatars / id / "avatar.json");
    shipped.model_checksum.clear();  // made without latents here
    CHECK(shipped.loop);
    CHECK(shipped == read_avatar_info(base / id / "avatar.json"));
    for (const char* file : {"frames.mp4", "faces.json", "masks.safetensors"}) {
      INFO(file);
      CHECK(demo_bytes(avatars / id / file) == demo_bytes(base / id / file));
    }
  }
}

TEST_CASE("the demo avatars open, with a face in every frame") {
  for (const char* id : {"ada", "theo"}) {
    const Bundle bundle = Bundle::open(data_directory() / "demo/avatars" / id);
    CHECK(bundle.info().id == id);
    CHECK(bundle.info().faceless_frames == 0);
    CHECK(bundle.frame(bundle.frame_count() - 1).width == bundle.info().width);
  }
}

TEST_CASE("the demo files take at most 16 MB") {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data_directory() / "demo"))
    if (entry.is_regular_file()) bytes += entry.file_size();
  CHECK(bytes <= 16'000'000);
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
