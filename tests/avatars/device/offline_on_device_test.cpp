// Videos that a device finishes: nets as a GPU has them, on the CPU, and the kernel that the emulation runs.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_pictures.h"
#include "avatars/render/render.h"
#include "avatars/render/speech_windows.h"
#include "gpu/image/color.h"
#include "tests/avatars/device/device_model.h"
#include "tests/core/files/scratch_folder.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

constexpr int k_faces_in_pass = 2;

// As loud as speech; three frames.
Audio hum() {
  Audio audio{.rate_hz = 16000};
  for (int i = 0; i < 3 * 640; ++i)
    audio.samples.push_back(0.3F * std::sin(0.05F * static_cast<float>(i * (i % 400))));
  return audio;
}

using Pictures = std::map<std::int64_t, std::vector<std::uint8_t>>;  // NV12, by frame

std::vector<std::uint8_t> nv12_of(const RenderedPicture& picture) {
  if (const auto* nv12 = std::get_if<Nv12View>(&picture))
    return {nv12->data, nv12->data + yuv420_bytes(nv12->width, nv12->height)};
  const auto& bgr = std::get<ConstImageView>(picture);
  std::vector<std::uint8_t> bytes(yuv420_bytes(bgr.width, bgr.height));
  bgr_to_nv12(bgr, bytes.data());
  return bytes;
}

Pictures rendered(Model& model, const Bundle& avatar, bool on_device,
                  std::vector<FrameRange> wanted = RenderOptions().wanted) {
  Pictures made;
  render(model, avatar, hum(),
         {.batch = k_faces_in_pass, .on_device = on_device, .wanted = std::move(wanted)},
         [&](std::int64_t t, std::int64_t, const RenderedPicture& picture) {
           CHECK(std::holds_alternative<Nv12View>(picture) == on_device);
           made[t] = nv12_of(picture);
         },
         {});
  return made;
}

// The demo's avatar, one frame of which is shown as it is.
std::shared_ptr<const Bundle> ada_without_face(std::size_t frame, const std::filesystem::path& at) {
  const std::filesystem::path ada = demo_of_device() / "avatars/ada";
  for (const char* file : {k_frames_file, k_latents_file, k_masks_file})
    std::filesystem::create_symlink(ada / file, at / file);
  const auto changed = [&](const char* name, const auto& change) {
    nlohmann::json json = nlohmann::json::parse(std::ifstream(ada / name));
    change(json);
    std::ofstream(at / name) << json;
  };
  changed(k_faces_file, [frame](auto& faces) { faces["frames"][frame] = nullptr; });
  changed(k_info_file, [](auto& info) { info["faceless_frames"] = 1; });
  return opened_of_device(at);
}

std::size_t beyond_one_level(const std::vector<std::uint8_t>& a,
                             const std::vector<std::uint8_t>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::abs(int{a[i]} - int{b[i]}) > 1 ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a video's pictures from a device are the live ones, whatever else is wanted") {
  Model model = device_model(64 << 20);
  const ScratchFolder folder;
  const auto avatar = ada_without_face(1, folder.path());
  const Pictures made = rendered(model, *avatar, true);
  REQUIRE(made.size() == 3);
  CHECK(rendered(model, *avatar, true, {{2, 3}}).at(2) == made.at(2));

  Clip clip(demo_of_device() / "avatars/ada" / k_frames_file, avatar->info().width,
            avatar->info().height);
  LivePictures live(avatar, std::make_shared<SharedClip>(std::move(clip)), 0, 1000);
  SpeechWindows speech(model, hum().samples, 25);
  const std::vector<std::int64_t> last{2};
  const PlacedFrame frame = live.placed({.index = 2}).value();
  const auto shown = model.pictures({&frame, 1}, speech.windows(last));
  CHECK(made.at(2) == bytes_of(shown.at(0)));
  const I420Picture still = live.still({.index = 1});
  CHECK(as_i420(made.at(1), still.width, still.height) == still);

  // Composed on the host: of colours that were not 4:2:0 and bytes before, so that a few are rounded another way.
  const auto composed = rendered(model, *avatar, false, {{2, 3}}).at(2);
  CHECK(furthest_level(made.at(2), composed) <= 2);
  CHECK(beyond_one_level(made.at(2), composed) < composed.size() / 100'000);
}

TEST_CASE("pictures of avatars with odd sides are no device's") {
  Model model = device_model(0);
  AvatarInfo info = ada_of_device()->info();
  CHECK(renders_on_device(model, info));
  info.height += 1;
  CHECK_FALSE(renders_on_device(model, info));
}
