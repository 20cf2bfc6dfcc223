// Videos that a device finishes: nets as a GPU has them, on the CPU, and the kernel that the emulation runs.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_pictures.h"
#include "avatars/render/render.h"
#include "avatars/render/speech_windows.h"
#include "gpu/image/color.h"
#include "tests/avatars/device_model.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

constexpr int k_faces_in_pass = 2;

// As loud as speech; 160 ms are four frames.
Audio hum_of(int ms) {
  Audio audio{.rate_hz = 16000};
  for (int i = 0; i < ms * 16; ++i)
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
  render(model, avatar, hum_of(240),
         {.batch = k_faces_in_pass, .on_device = on_device, .wanted = std::move(wanted)},
         [&](std::int64_t t, std::int64_t, const RenderedPicture& picture) {
           CHECK(std::holds_alternative<Nv12View>(picture) == on_device);
           made[t] = nv12_of(picture);
         },
         {});
  return made;
}

}  // namespace

TEST_CASE("a video's pictures from a device are the live ones, and the CPU's to within one level") {
  Model model = device_model(64 << 20);
  const auto avatar = ada_of_device();
  REQUIRE(renders_on_device(model, avatar->info(), {}));
  const Pictures made = rendered(model, *avatar, true);
  REQUIRE(made.size() == 6);

  const Pictures composed = rendered(model, *avatar, false);
  for (const auto& [t, picture] : made) {
    CAPTURE(t);
    CHECK(furthest_level(picture, composed.at(t)) <= 1);
  }

  Clip clip(demo_of_device() / "avatars/ada" / k_frames_file, avatar->info().width,
            avatar->info().height);
  LivePictures live(avatar, std::make_shared<SharedClip>(std::move(clip)), 0, 1000);
  SpeechWindows speech(model, hum_of(240).samples, 25);
  const std::vector<std::int64_t> last{4, 5};
  const std::vector<PlacedFrame> frames{live.placed({.index = 4}).value(),
                                        live.placed({.index = 5}).value()};
  const auto shown = model.pictures(frames, speech.windows(last));
  for (std::size_t i = 0; i < last.size(); ++i) {
    const std::span<const std::uint8_t> nv12 = shown[i].nv12();
    CHECK(made.at(last[i]) == std::vector<std::uint8_t>(nv12.begin(), nv12.end()));
  }
}

TEST_CASE("a video's pictures from a device do not depend on what else is wanted") {
  Model model = device_model(0);
  const auto avatar = ada_of_device();
  const Pictures all = rendered(model, *avatar, true);
  const Pictures some = rendered(model, *avatar, true, {{4, 6}, {0, 2}});
  REQUIRE(some.size() == 4);
  for (const auto& [t, picture] : some) CHECK(picture == all.at(t));
}

TEST_CASE("pictures that are sharpened, or have odd sides, are no device's") {
  Model model = device_model(0);
  AvatarInfo info = ada_of_device()->info();
  CHECK_FALSE(renders_on_device(model, info, {.match_colour = true}));
  CHECK_FALSE(renders_on_device(model, info, {.unsharp = Unsharp{}}));
  info.height += 1;
  CHECK_FALSE(renders_on_device(model, info, {}));
}
