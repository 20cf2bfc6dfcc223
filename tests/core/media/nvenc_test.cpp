// NVENC fed from a GPU's memory: FFmpeg's own frames and copies, on a driver and an encoder of the tests' own making.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/media/encode/h264_stream.h"
#include "tests/fakes/fake_cuda_library.h"
#include "tests/fakes/fake_nvenc.h"

using namespace navtalk;
using tests::fake_driver;

namespace {

constexpr int k_width = 70, k_height = 48;  // a row that no device aligns to
int context, stream;                        // whose addresses are the handles

H264Options from_gpu(int gpu = 0) {
  return {
      .width = k_width,
      .height = k_height,
      .encoder = H264Encoder::nvenc,
      .gpu = gpu,
      .source = DeviceSource{
          .gpu = gpu, .context = &context, .stream = std::shared_ptr<void>(&stream, [](void*) {})}};
}

I420Picture shaded(int t) {
  I420Picture picture(k_width, k_height);
  for (std::size_t i = 0; i < picture.bytes.size(); ++i)
    picture.bytes[i] = static_cast<std::uint8_t>(
        20 + (i * 3 + i / k_width * 7 + static_cast<std::size_t>(t) * 5) % 200);
  return picture;
}

// The same in the memory of a GPU, which is the host's here.
DevicePicture on_gpu(const I420Picture& picture, int gpu, int& copied) {
  auto nv12 = std::make_shared<std::vector<std::uint8_t>>(picture.bytes);
  const std::size_t luma = nv12->size() * 2 / 3;
  for (std::size_t i = 0; i < luma / 4; ++i) {
    (*nv12)[luma + 2 * i] = picture.u()[i];
    (*nv12)[luma + 2 * i + 1] = picture.v()[i];
  }
  return {.width = picture.width,
          .height = picture.height,
          .gpu = gpu,
          .nv12 = {nv12, nv12->data()},
          .copy = [picture, &copied] {
            ++copied;
            return picture;
          }};
}

}  // namespace

TEST_CASE("NVENC codes a GPU's pictures where they lie, and the host's between them") {
  tests::FakeCuda& driver = fake_driver();
  int copied = 0;
  const int allocated = driver.allocated;
  {
    H264Stream from_device(from_gpu()),
        from_host({.width = k_width, .height = k_height, .encoder = H264Encoder::nvenc});
    CHECK(from_device.codes_from() == 0);
    CHECK(from_host.codes_from() == std::nullopt);
    for (int t = 0; t < 6; ++t) {
      const I420Picture picture = shaded(t);
      const bool there = t % 3 != 2;
      const AccessUnit unit = there ? from_device.encode(on_gpu(picture, 0, copied), t == 4)
                                    : from_device.encode(picture, t == 4);
      const AccessUnit wanted = from_host.encode(picture, t == 4);
      INFO("picture " << t);
      CHECK(unit.bytes == wanted.bytes);
      CHECK(unit.key == (t == 0 || t == 4));
      CHECK(driver.context == &context);
      CHECK(driver.stream == &stream);
    }
    CHECK(copied == 0);
    CHECK(driver.within == 4 * 2);  // two planes
    CHECK(driver.uploads == 2 * 2);
  }
  CHECK(driver.allocated == allocated);
}

TEST_CASE(
    "pictures of another GPU than the encoder's, and those for libx264, come through the host") {
  fake_driver();
  int copied = 0;
  H264Stream other(from_gpu(1)), x264({.width = k_width, .height = k_height});
  H264Stream wanted({.width = k_width, .height = k_height});
  CHECK(other.encode(on_gpu(shaded(0), 0, copied), false).key);
  CHECK(copied == 1);
  CHECK(x264.encode(on_gpu(shaded(0), 0, copied), false).bytes ==
        wanted.encode(shaded(0), false).bytes);
  CHECK(copied == 2);
}

TEST_CASE("a GPU that refuses, and a picture of another size, are errors") {
  tests::FakeCuda& driver = fake_driver();
  int copied = 0;
  H264Stream stream(from_gpu());
  DevicePicture small = on_gpu(shaded(0), 0, copied);
  small.width = 64;
  CHECK_THROWS_WITH(stream.encode(small, false), Catch::Contains("64x48 does not fit"));
  const auto check_refused = [&] {
    CHECK_THROWS_WITH(stream.encode(on_gpu(shaded(0), 0, copied), false),
                      Catch::Contains("CUDA_ERROR_OF_TESTS"));
    CHECK_THROWS_WITH(stream.encode(shaded(0), false), Catch::Contains("CUDA_ERROR_OF_TESTS"));
  };
  driver.enter_result = 2;
  check_refused();
  driver.enter_result = 0;
  driver.copy_result = 2;
  check_refused();
  CHECK(driver.within + driver.uploads == 0);
  driver.copy_result = 0;
  CHECK(stream.encode(on_gpu(shaded(0), 0, copied), false).key);
}
