// Live pictures that a device finishes: nets as a GPU has them, on the CPU, and the kernel that the emulation runs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "core/media/encode/video_writer.h"
#include "gpu/image/color.h"
#include "tests/avatars/device/device_model.h"
#include "tests/gpu/image/pasted_by_twins.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::test;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<LivePictures> session_of(const std::shared_ptr<const Bundle>& avatar, int width,
                                         const std::filesystem::path& frames) {
  const AvatarInfo& info = avatar->info();
  return std::make_shared<LivePictures>(
      avatar, std::make_shared<SharedClip>(Clip(frames, info.width, info.height)), width, 1000,
      LiveEncoders(), true);
}
// `width` 0: the avatar's.
std::shared_ptr<LivePictures> session_of(const std::shared_ptr<const Bundle>& avatar, int width) {
  return session_of(avatar, width, demo_of_device() / "avatars/ada" / k_frames_file);
}

// A clip of colours that meet at odd columns and rows, at their fullest; its pictures come back as they were.
void write_saturated_clip(const std::filesystem::path& file, int width, int height, int frames) {
  VideoWriter writer({.path = file, .width = width, .height = height, .lossless_rgb = true});
  Image picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) picture.view().at(x, y)[((x + 1) / 4 + (y + 1) / 6) % 3] = 255;
  for (int i = 0; i < frames; ++i) writer.write(picture.view());
  writer.finish();
}

// The furthest of two pictures' bytes for which no pixel in `changed` counts.
int furthest_outside(const Box& changed, const I420Picture& a, const I420Picture& b) {
  REQUIRE(a.bytes.size() == b.bytes.size());
  const auto plane = [&](const std::uint8_t* one, const std::uint8_t* other, int scale) {
    int most = 0;
    for (int y = 0; y < a.height / scale; ++y)
      for (int x = 0; x < a.width / scale; ++x) {
        const Box pixels{x * scale, y * scale, (x + 1) * scale, (y + 1) * scale};
        if (!intersection(pixels, changed).empty()) continue;
        const std::ptrdiff_t at = std::ptrdiff_t{y} * (a.width / scale) + x;
        most = std::max(most, std::abs(int{one[at]} - int{other[at]}));
      }
    return most;
  };
  return std::max({plane(a.y(), b.y(), 1), plane(a.u(), b.u(), 2), plane(a.v(), b.v(), 2)});
}

// A window of even noise, another for each seed.
NdArray<float> window_of(const Model& model, int seed) {
  NdArray<float> window({1, model.info().context_rows, model.info().context_width});
  for (std::size_t i = 0; i < window.values.size(); ++i)
    window.values[i] =
        static_cast<float>((i * 7919 + static_cast<std::size_t>(seed) * 31) % 200) / 100 - 1;
  return window;
}

// The picture of a frame and a face by the kernels' twins.
std::vector<std::uint8_t> by_twins(const PlacedFrame& frame, const NdArray<std::uint8_t>& face) {
  const FrameContent content = frame.load();
  const Box& region = frame.mask_region;
  const std::vector<std::uint8_t> pasted = tests::pasted_by_twins(
      content.nv12, frame.width, frame.height, {face.values.data(), 256, 256, 3, 256 * 3},
      {content.mask.data(), region.width(), region.height(), 1, region.width()},
      {.placement = frame.placement,
       .mask_region = region,
       .finish = frame.finish,
       .lips = frame.lips});
  if (frame.picture_width() == frame.width && frame.picture_height() == frame.height) return pasted;
  return tests::scaled_by_twins(pasted, frame.width, frame.height, frame.picture_width(),
                                frame.picture_height());
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

TEST_CASE(
    "a session's width, fading lips, and what an avatar wants of its faces are the device's") {
  Model model = device_model(64 << 20);
  const auto session = session_of(ada_of_device(), 200);
  const NdArray<float> window = window_of(model, 360);
  PlacedFrame scaled = session->placed({.index = 9}).value(),
              fading = session->placed({.index = 9}, 0.4F).value();
  CHECK(scaled.shown_width == 200);
  CHECK(fading.lips == 0.4F);
  CHECK_FALSE(session->placed({.index = 9}, 0));
  fading.shown_width = fading.shown_height = 0;
  PlacedFrame finished = fading;
  finished.lips = 1;
  finished.finish = {.unsharp = Unsharp{}, .match_colour = true};
  PlacedFrame all = scaled;
  all.finish = finished.finish;
  all.lips = 0.6F;
  const std::vector<PlacedFrame> frames{scaled, fading, finished, all};
  NdArray<float> windows({4, window.dim(1), window.dim(2)});
  const FrameContent content = scaled.load();
  for (std::int64_t i = 0; i < 4; ++i) {
    std::ranges::copy(window.values, windows.row(i));
  }
  const auto made = model.pictures(frames, windows);
  const NdArray<std::uint8_t> face = model.faces(content.latent, window);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    INFO("picture " << i);
    // One level each of what pastes and of what scales.
    const int most = frames[i].picture_width() == frames[i].width ? 1 : 2;
    CHECK(furthest_level(bytes_of(made.at(i)), by_twins(frames[i], face)) <= most);
  }
  CHECK(furthest_level(bytes_of(made[1]), content.nv12) > 4);
  CHECK(furthest_level(bytes_of(made[2]), bytes_of(made[1])) > 4);
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

TEST_CASE(
    "a live batch has fading lips and other sizes, and is finished on the device but for passing "
    "clips") {
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
  const I420Picture first = on_host(made[0]()), faded = on_host(made[1]()),
                    small = on_host(made[2]());
  CHECK(first == on_host(made[3]()));
  CHECK(on_host(made[4]()) != first);
  CHECK(small.width == 128);
  CHECK(furthest_level(first.bytes, faded.bytes) > 3);
  const auto still = session_of(avatar, 0)->still(frame);
  CHECK(furthest_level(first.bytes, still.bytes) > furthest_level(faded.bytes, still.bytes));
  CHECK(furthest_level(small.bytes, session_of(avatar, 128)->still(frame).bytes) > 3);
}

TEST_CASE("nothing but the mouth changes when somebody begins to speak, whatever the width") {
  Model model = device_model(64 << 20);
  LiveNets nets([&]() -> Model& { return model; });
  const auto avatar = ada_of_device();
  const AvatarInfo& info = avatar->info();
  const tests::TemporaryDirectory folder;
  write_saturated_clip(folder / "frames.mp4", info.width, info.height, 12);
  const auto session = session_of(avatar, GENERATE(0, 128, 774), folder / "frames.mp4");
  const int width = session->width();
  const ClipFrame frame{.index = 9}, passing{.index = 9, .before = 3, .weight = 0.5F};
  const std::vector<std::int16_t> sound(20 * 640, 900);
  const auto asked = [&](const ClipFrame& shown) {
    return PictureRequest{.session = 1,
                          .avatar = session,
                          .time = 360ms,
                          .frame = shown,
                          .sound = {.samples = sound, .first = 9 * 640, .rate_hz = 16000}};
  };
  const std::vector<PictureRequest> batch{asked(frame), asked(passing)};
  const auto made = nets.make(batch, [] {}).pictures;
  const double scale = static_cast<double>(width) / info.width;
  const auto place = [&](int index) {
    const AvatarFace& face = *avatar->face(index);
    const Box& box = face.placement.box;
    // What a scaled pixel and the chroma of four are made of.
    const int reach = 4 + static_cast<int>(2 * scale);
    return Box{static_cast<int>(box.x1 * scale) - reach, static_cast<int>(box.y1 * scale) - reach,
               static_cast<int>(box.x2 * scale) + reach, static_cast<int>(box.y2 * scale) + reach};
  };
  INFO("width " << width << " of " << info.width);
  const I420Picture idle = session->still(frame);
  CHECK(furthest_outside(place(9), on_host(made.at(0)()), idle) <= 1);
  CHECK(furthest_outside({}, on_host(made.at(0)()), idle) > 10);  // the mouth
  // The clips hold the same, so that passing from one into the other changes nothing.
  Box both = place(9);
  const Box before = place(3);
  both = {std::min(both.x1, before.x1), std::min(both.y1, before.y1), std::max(both.x2, before.x2),
          std::max(both.y2, before.y2)};
  CHECK(furthest_outside(both, on_host(made.at(1)()), idle) <= 1);
  CHECK(furthest_outside({}, session->still(passing), idle) == 0);
}
