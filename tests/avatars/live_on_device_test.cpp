// Live pictures that a device finishes: nets as a GPU has them, on the CPU, and the kernel that the emulation runs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "gpu/image/color.h"
#include "tests/avatars/device_model.h"

using namespace navtalk;
using namespace navtalk::test;
using namespace std::chrono_literals;

namespace {

// `width` 0: the avatar's.
std::shared_ptr<LivePictures> session_of(const std::shared_ptr<const Bundle>& avatar, int width) {
  const AvatarInfo& info = avatar->info();
  Clip clip(demo_of_device() / "avatars/ada" / k_frames_file, info.width, info.height);
  return std::make_shared<LivePictures>(avatar, std::make_shared<SharedClip>(std::move(clip)),
                                        width, 1000);
}

// A window of even noise, another for each seed.
NdArray<float> window_of(const Model& model, int seed) {
  NdArray<float> window({1, model.info().context_rows, model.info().context_width});
  for (std::size_t i = 0; i < window.values.size(); ++i)
    window.values[i] =
        static_cast<float>((i * 7919 + static_cast<std::size_t>(seed) * 31) % 200) / 100 - 1;
  return window;
}

// The face of a frame put into it by the kernel's twins: where the mask is, in whole 2x2 pixels; elsewhere the frame's own bytes.
std::vector<std::uint8_t> by_twins(const PlacedFrame& frame, const NdArray<std::uint8_t>& face) {
  const FrameContent content = frame.load();
  Image picture(frame.width, frame.height, 3);
  nv12_to_bgr(content.nv12.data(), picture.view());
  const Box& region = frame.mask_region;
  compose(picture.view(), {face.values.data(), 256, 256, 3, 256 * 3}, frame.placement,
          {content.mask.data(), region.width(), region.height(), 1, region.width()}, region);
  std::vector<std::uint8_t> made(content.nv12.size()), nv12 = content.nv12;
  bgr_to_nv12(picture.view(), made.data());
  const Box& crop = frame.placement.crop_box;
  const Box shown = intersection(frame.placement.box, region.moved(crop.x1, crop.y1));
  const auto width = static_cast<std::size_t>(frame.width);
  for (int y = shown.y1 / 2 * 2; y < (shown.y2 + 1) / 2 * 2; ++y)
    for (int x = shown.x1 / 2 * 2; x < (shown.x2 + 1) / 2 * 2; ++x) {
      const auto column = static_cast<std::size_t>(x);
      const std::size_t luma = static_cast<std::size_t>(y) * width + column;
      const std::size_t chroma = static_cast<std::size_t>(frame.height + y / 2) * width + column;
      nv12[luma] = made[luma];
      nv12[chroma] = made[chroma];
    }
  return nv12;
}

// A small grey frame with a face in its middle.
PlacedFrame small_frame(const std::shared_ptr<const int>& avatar, std::int64_t index, int& loads) {
  const Box box{8, 8, 56, 56};
  return {.avatar = avatar,
          .frame = index,
          .width = 64,
          .height = 64,
          .placement = {.box = box, .crop_box = box},
          .mask_region = Box{0, 0, 48, 48},
          .load = [&loads, index] {
            ++loads;
            FrameContent content{.nv12 = std::vector<std::uint8_t>(yuv420_bytes(64, 64), 128),
                                 .mask = std::vector<std::uint8_t>(std::size_t{48} * 48, 200),
                                 .latent = NdArray<float>({1, 8, 32, 32})};
            std::ranges::fill(content.latent.values, 0.25F * static_cast<float>(index));
            return content;
          }};
}

}  // namespace

TEST_CASE(
    "pictures finished on the device are those of the CPU's operations, to within one level") {
  Model model = device_model(64 << 20);
  const auto session = session_of(ada_of_device(), 0);
  const PlacedFrame frame = session->placed({.index = 9}).value();
  const NdArray<float> window = window_of(model, 360);
  const auto made = model.pictures({&frame, 1}, window);
  REQUIRE(made.size() == 1);
  const FrameContent content = frame.load();
  const std::vector<std::uint8_t> picture = bytes_of(made[0]);
  CHECK(furthest_level(picture, by_twins(frame, model.faces(content.latent, window))) <= 1);
  CHECK(furthest_level(picture, content.nv12) > 10);  // the mouth
}

TEST_CASE("the device keeps the frames used last, within its budget") {
  constexpr std::size_t k_one = 64 * 64 * 3 / 2 + 48 * 48 + 8 * 32 * 32 * 4;
  const auto budget = GENERATE(std::size_t{0}, k_one + k_one / 2, 3 * k_one);
  Model model = device_model(budget);
  const auto avatar = std::make_shared<const int>(0), other = std::make_shared<const int>(0);
  int loads = 0;
  const PlacedFrame a = small_frame(avatar, 0, loads), b = small_frame(avatar, 1, loads);
  const auto picture = [&](const PlacedFrame& frame) {
    return bytes_of(model.pictures({&frame, 1}, window_of(model, 1)).at(0));
  };
  const auto held = model.pictures({&a, 1}, window_of(model, 1));
  const auto first = bytes_of(held.at(0)), second = picture(b);
  CHECK(first != second);
  // What comes from the device's memory is what was loaded into it.
  CHECK(picture(a) == first);
  CHECK(picture(b) == second);
  CHECK(loads == (budget == 3 * k_one ? 2 : 4));
  // The same frame of another avatar is another one.
  picture(small_frame(other, 1, loads));
  CHECK(loads == (budget == 3 * k_one ? 3 : 5));
  // The host's memory of a picture that is held is used for no other.
  CHECK(bytes_of(held.at(0)) == first);
}

TEST_CASE("a frame whose content does not fit its size is refused") {
  Model model = device_model(0);
  int loads = 0;
  const auto avatar = std::make_shared<const int>(0);
  PlacedFrame frame = small_frame(avatar, 0, loads);
  frame.load = [load = frame.load] {
    FrameContent content = load();
    content.nv12.pop_back();
    return content;
  };
  CHECK_THROWS_WITH(model.pictures({&frame, 1}, window_of(model, 1)),
                    Catch::Contains("bytes of NV12"));
}

TEST_CASE("a live batch is finished on the device, but for fading lips and other sizes") {
  Model model = device_model(64 << 20);
  LiveNets nets([&]() -> Model& { return model; });
  const auto avatar = ada_of_device();
  const std::vector<std::int16_t> sound(20 * 640, 900);
  const ClipFrame frame{.index = 9}, passing{.index = 9, .before = 20, .weight = 0.5F};
  const auto asked = [&](std::uint64_t number, int width, float lips, const ClipFrame& shown) {
    return PictureRequest{.session = number,
                          .avatar = session_of(avatar, width),
                          .time = 360ms,
                          .frame = shown,
                          .lips = lips,
                          .sound = {.samples = sound, .first = 9 * 640, .rate_hz = 16000}};
  };
  const std::vector<PictureRequest> batch{asked(1, 0, 1, frame), asked(2, 0, 0.5F, frame),
                                          asked(3, 128, 1, frame), asked(4, 0, 1, frame),
                                          asked(5, 0, 1, passing)};
  const auto made = nets.make(batch, [] {}).pictures;
  REQUIRE(made.size() == 5);
  const I420Picture first = made[0](), faded = made[1](), small = made[2]();
  CHECK(first == made[3]());
  CHECK(made[4]() != first);
  CHECK(small.width == 128);
  CHECK(furthest_level(first.bytes, faded.bytes) > 3);
  const auto still = session_of(avatar, 0)->still(frame);
  CHECK(furthest_level(first.bytes, still.bytes) > furthest_level(faded.bytes, still.bytes));
  CHECK(furthest_level(small.bytes, session_of(avatar, 128)->still(frame).bytes) > 3);
}
