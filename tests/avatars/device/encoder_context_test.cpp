// The encoder's stream in the nets' context, and NVENC that codes from there: on a GPU where there is one, else on a driver and an encoder
// of the tests' own making.
#include "gpu/cuda/encoder_context.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/cptr.h"
#include "core/base/device_lost.h"
#include "core/media/encode/h264_stream.h"
#include "tests/gpu/cuda/device_memory.h"
#ifdef NAVTALK_EMULATE_CUDA
#include "tests/fakes/fake_cuda_library.h"
#include "tests/fakes/fake_nvenc.h"
#endif

using namespace navtalk;
using cuda::EncoderContext;

namespace {

constexpr int k_width = 320, k_height = 240, k_pictures = 24;

// Waves that move, with colours.
I420Picture waves(int t) {
  I420Picture picture(k_width, k_height);
  for (std::size_t i = 0; i < picture.bytes.size(); ++i) {
    const double x = static_cast<double>(i % k_width), y = static_cast<double>(i) / k_width;
    picture.bytes[i] = static_cast<std::uint8_t>(128 + 60 * std::sin(0.05 * (x + 3 * t)) +
                                                 40 * std::cos(0.07 * (y - 2 * t)));
  }
  return picture;
}

std::vector<std::uint8_t> as_nv12(const I420Picture& picture) {
  std::vector<std::uint8_t> nv12 = picture.bytes;
  const std::size_t luma = nv12.size() * 2 / 3;
  for (std::size_t i = 0; i < luma / 4; ++i) {
    nv12[luma + 2 * i] = picture.u()[i];
    nv12[luma + 2 * i + 1] = picture.v()[i];
  }
  return nv12;
}

DevicePicture on_device(const tests::DeviceMemory& nv12) {
  return {.width = k_width,
          .height = k_height,
          .gpu = 0,
          .nv12 = {nv12.data(), [](const std::uint8_t*) {}},
          .copy = []() -> I420Picture { throw Error(Code::failed, "it came through the host"); }};
}

// FFmpeg's decoder on the CPU.
class Decoder {
 public:
  Decoder() {
    const AVCodec* h264 = avcodec_find_decoder(AV_CODEC_ID_H264);
    codec_.reset(avcodec_alloc_context3(h264));
    codec_->thread_count = 1;
    codec_->flags |= AV_CODEC_FLAG_LOW_DELAY;
    REQUIRE(avcodec_open2(codec_.get(), h264, nullptr) == 0);
  }
  I420Picture picture(AccessUnit unit) {
    const std::size_t bytes = unit.bytes.size();
    unit.bytes.resize(bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    packet_->data = unit.bytes.data();
    packet_->size = static_cast<int>(bytes);
    REQUIRE(avcodec_send_packet(codec_.get(), packet_.get()) == 0);
    REQUIRE(avcodec_receive_frame(codec_.get(), frame_.get()) == 0);
    I420Picture picture(k_width, k_height);
    auto to = picture.bytes.begin();
    for (const int plane : {0, 1, 2}) {
      const int scale = plane == 0 ? 1 : 2;
      for (int y = 0; y < k_height / scale; ++y)
        to = std::copy_n(
            frame_->data[plane] + static_cast<std::ptrdiff_t>(y) * frame_->linesize[plane],
            k_width / scale, to);
    }
    return picture;
  }

 private:
  CPtrPtr<AVCodecContext, avcodec_free_context> codec_{};
  CPtrPtr<AVPacket, av_packet_free> packet_{av_packet_alloc()};
  CPtrPtr<AVFrame, av_frame_free> frame_{av_frame_alloc()};
};

double psnr(const I420Picture& a, const I420Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const double difference = int{a.bytes[i]} - int{b.bytes[i]};
    sum += difference * difference;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.bytes.size()) / std::max(sum, 1.0));
}

// nullptr, and why in `missing`: this FFmpeg or this GPU has no NVENC.
std::unique_ptr<H264Stream> nvenc(std::optional<DeviceSource> source, std::string& missing) try {
  return std::make_unique<H264Stream>(H264Options{.width = k_width,
                                                  .height = k_height,
                                                  .encoder = H264Encoder::nvenc,
                                                  .source = std::move(source)});
} catch (const Error& error) {
  missing = error.message();
  return nullptr;
}

}  // namespace

TEST_CASE("pictures that NVENC takes from the device's memory are as good as those of the host") {
#ifdef NAVTALK_EMULATE_CUDA
  tests::fake_driver();
  tests::fake_nvenc() = {};
#endif
  NAVTALK_NEEDS_DEVICE();
  const EncoderContext own = cuda::encoder_context(0);
  std::string missing;
  const auto from_host = nvenc({}, missing);
  const auto from_device =
      nvenc(DeviceSource{.gpu = 0, .context = own.context, .stream = own.stream}, missing);
  if (!from_host || !from_device) {
    WARN("skipped: NVENC: " << missing);
    return;
  }
  CHECK(from_device->codes_from() == 0);
  std::deque<tests::DeviceMemory> memory;
  Decoder of_device, of_host;
  double least_device = 100, least_host = 100;
  for (int t = 0; t < k_pictures; ++t) {
    const I420Picture wanted = waves(t);
    const tests::DeviceMemory& there = memory.emplace_back(as_nv12(wanted));
    const bool key = t == 12;
    AccessUnit device = from_device->encode(on_device(there), key),
               host = from_host->encode(wanted, key);
    CHECK(device.key == (t == 0 || key));
    least_device = std::min(least_device, psnr(of_device.picture(std::move(device)), wanted));
    least_host = std::min(least_host, psnr(of_host.picture(std::move(host)), wanted));
  }
  WARN(fmt::format("NVENC: {:.1f} dB from the device's memory, {:.1f} dB through the host",
                   least_device, least_host));
  CHECK(least_device > 30);
  CHECK(std::abs(least_device - least_host) < 1);
}

#ifdef NAVTALK_EMULATE_CUDA

TEST_CASE("a stream is made in its GPU's own context, and no other GPU's begins") {
  tests::FakeCuda& driver = tests::fake_driver();
  const int retained = driver.retained, streams = driver.streams;
  REQUIRE(driver.current() == nullptr);
  {
    const EncoderContext second = cuda::encoder_context(1);
    CHECK(driver.begun == 0b10);
    CHECK(driver.stream_context == second.context);
    CHECK(driver.retained == retained + 1);
    CHECK(driver.streams == streams + 1);
    CHECK(driver.current() == nullptr);
    const EncoderContext again = cuda::encoder_context(1);
    CHECK(again.context == second.context);
    CHECK(again.stream != second.stream);
  }
  CHECK(driver.begun == 0b10);
  CHECK(driver.current() == nullptr);
  // The context is held as long as a stream.
  CHECK(driver.retained == retained);
  CHECK(driver.streams == streams);
}

TEST_CASE("a driver that refuses is an error by its name, and leaves nothing behind") {
  tests::FakeCuda& driver = tests::fake_driver();
  const int retained = driver.retained;
  CHECK_THROWS_WITH(cuda::encoder_context(2),
                    Catch::Contains("cuDeviceGet: CUDA_ERROR_OF_TESTS (101)"));
  driver.enter_result = 201;
  CHECK_THROWS_WITH(cuda::encoder_context(0), Catch::Contains("cuCtxPushCurrent"));
  driver.enter_result = 0;
  driver.stream_result = 719;
  CHECK_THROWS_AS(cuda::encoder_context(0), DeviceLost);
  CHECK(driver.retained == retained);
  CHECK(driver.current() == nullptr);
}

#endif  // NAVTALK_EMULATE_CUDA
