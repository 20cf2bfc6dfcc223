// Live pictures that stay on the device until they are coded: nets as a GPU has them, on the CPU, with a driver and an encoder of the
// tests' own making.
#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "avatars/bundle/bundle_files.h"
#include "avatars/live/live_nets.h"
#include "avatars/live/live_pictures.h"
#include "tests/avatars/device/device_model.h"
#include "tests/fakes/fake_cuda_library.h"
#include "tests/fakes/fake_nvenc.h"

using namespace navtalk;
using namespace navtalk::test;
using namespace std::chrono_literals;
using tests::fake_nvenc;

namespace {

struct Told {
  std::vector<std::string> lines{};
  LiveEncoders::Tell tell() {
    return [this](const std::string& line) { lines.push_back(line); };
  }
};

// `width` 0: the avatar's.
std::shared_ptr<LivePictures> session_with(const LiveEncoders& encoders, int width = 0) {
  const auto avatar = ada_of_device();
  const AvatarInfo& info = avatar->info();
  Clip clip(demo_of_device() / "avatars/ada" / k_frames_file, info.width, info.height);
  return std::make_shared<LivePictures>(avatar, std::make_shared<SharedClip>(std::move(clip)),
                                        width, 1000, encoders);
}

}  // namespace

TEST_CASE("NVENC is fed from the GPU's memory, else through the host, and why is told") {
  tests::fake_driver();
  Told told;
  fake_nvenc() = {};
  const LiveEncoders from_gpu({}, 0, told.tell());
  CHECK(from_gpu.codes_from() == 0);
  CHECK(from_gpu.open({.width = 64, .height = 48})->codes_from() == 0);
  CHECK_THAT(told.lines.at(0), Catch::EndsWith("NVENC of GPU 0, from that GPU's memory"));
  // A stream for which there is no room.
  fake_nvenc().room = 0;
  CHECK(from_gpu.open({.width = 64, .height = 48})->codes_from() == std::nullopt);
  REQUIRE(told.lines.size() == 2);
  CHECK(told.lines[1] ==
        "one live video is coded by libx264, because NVENC has no room for one more stream; "
        "through the host: NVENC has no room for one more stream");
  fake_nvenc() = {.takes_frames = false};
  CHECK(from_gpu.open({.width = 64, .height = 48})->codes_from() == std::nullopt);
  REQUIRE(told.lines.size() == 3);
  CHECK(told.lines[2] ==
        "one live video is coded by NVENC through the host, because this NVENC takes no frames");

  fake_nvenc() = {.takes_frames = false};
  const LiveEncoders through_host({}, 0, told.tell());
  CHECK(through_host.codes_from() == std::nullopt);
  CHECK_THAT(told.lines.at(3),
             Catch::EndsWith("through the host, because this NVENC takes no frames"));
  fake_nvenc() = {};
  const LiveEncoders nets_on_cpu(H264Encoder::nvenc, {}, told.tell());
  CHECK(nets_on_cpu.codes_from() == std::nullopt);
  CHECK_THAT(told.lines.at(4), Catch::EndsWith("because the nets compute on the CPU"));
}

TEST_CASE("a GPU that refuses the first copy is fed through the host from the start") {
  tests::FakeCuda& driver = tests::fake_driver();
  Told told;
  fake_nvenc() = {};
  driver.copy_result = 2;
  const LiveEncoders encoders({}, 0, told.tell());
  CHECK(encoders.codes_from() == std::nullopt);
  REQUIRE(told.lines.size() == 1);
  CHECK_THAT(told.lines[0], Catch::Contains("through the host, because a frame was not copied") &&
                                Catch::Contains("CUDA_ERROR_OF_TESTS"));
  CHECK(encoders.open({.width = 64, .height = 48})->encode(I420Picture(64, 48), false).key);
  driver.copy_result = 0;
}

TEST_CASE("a picture that NVENC takes from the device never comes to the host") {
  tests::FakeCuda& driver = tests::fake_driver();
  fake_nvenc() = {};
  const LiveEncoders from_gpu({}, 0, [](const std::string&) {});
  fake_nvenc().takes_frames = false;
  const LiveEncoders through_host({}, 0, [](const std::string&) {});
  fake_nvenc().takes_frames = true;
  Model model = device_model(64 << 20);
  LiveNets nets([&]() -> Model& { return model; });
  const std::vector<std::int16_t> sound(20 * 640, 900);
  const auto asked = [&](std::uint64_t number, const std::shared_ptr<LivePictures>& pictures,
                         float lips) {
    return PictureRequest{.session = number,
                          .avatar = pictures,
                          .time = 360ms,
                          .frame = {.index = 9},
                          .lips = lips,
                          .sound = {.samples = sound, .first = 9 * 640, .rate_hz = 16000}};
  };
  const auto there = session_with(from_gpu), here = session_with(through_host),
             small = session_with(from_gpu, 128);
  const std::vector<PictureRequest> batch{asked(1, there, 1), asked(2, here, 1),
                                          asked(3, small, 0.5F)};
  const auto made = nets.make(batch, [] {}).pictures;
  const VideoPicture on_device = made.at(0)(), hosted = made.at(1)();
  REQUIRE(std::holds_alternative<DevicePicture>(on_device));
  REQUIRE(std::holds_alternative<I420Picture>(hosted));
  CHECK(on_host(on_device) == std::get<I420Picture>(hosted));
  driver.within = driver.uploads = 0;
  const AccessUnit unit = there->encode(on_device, false);
  CHECK(unit.bytes == here->encode(hosted, false).bytes);
  const VideoPicture fading = made.at(2)();
  REQUIRE(std::holds_alternative<DevicePicture>(fading));
  CHECK(std::get<DevicePicture>(fading).width == 128);
  small->encode(fading, false);
  CHECK(driver.within == 2 * 2);
  CHECK(driver.uploads == 0);
  // Pictures without lips are the host's.
  there->encode(there->still({.index = 9}), false);
  CHECK(driver.uploads == 2);
}
