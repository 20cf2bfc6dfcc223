// No machine has GPU 63, so that NVENC cannot be had there, whatever machine this is.
#include "avatars/live/live_encoders.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"

using namespace navtalk;

namespace {

constexpr int k_no_gpu = 63;
constexpr H264Options k_picture{.width = 64, .height = 48};

struct Told {
  std::vector<std::string> lines{};
  LiveEncoders::Tell tell() {
    return [this](const std::string& line) { lines.push_back(line); };
  }
};

}  // namespace

TEST_CASE("nets on a CPU have their video coded there, without a word") {
  Told told;
  const LiveEncoders encoders({}, {}, told.tell());
  CHECK(told.lines.empty());
  CHECK(encoders.open(k_picture)->encode(I420Picture(64, 48), false).key);
}

TEST_CASE("a GPU without NVENC leaves video to libx264, and why is told once") {
  Told told;
  const LiveEncoders encoders({}, k_no_gpu, told.tell());
  REQUIRE(told.lines.size() == 1);
  CHECK_THAT(told.lines[0], Catch::StartsWith("live video is coded by libx264, because "));
  for (int session = 0; session < 2; ++session)
    CHECK(encoders.open(k_picture)->encode(I420Picture(64, 48), false).key);
  CHECK(told.lines.size() == 1);
}

TEST_CASE("NVENC that is asked for and cannot be had is an error that says why") {
  Told told;
  CHECK_THROWS_WITH(LiveEncoders(H264Encoder::nvenc, k_no_gpu, told.tell()),
                    Catch::StartsWith("NVENC of GPU 63 cannot be had: "));
  CHECK_NOTHROW(LiveEncoders(H264Encoder::x264, k_no_gpu, told.tell()));
  CHECK(told.lines.empty());
}

TEST_CASE("the names of video encoders") {
  CHECK(parse_h264_encoder("auto") == std::nullopt);
  CHECK(parse_h264_encoder("x264") == H264Encoder::x264);
  CHECK(parse_h264_encoder("nvenc") == H264Encoder::nvenc);
  CHECK_THROWS_WITH(parse_h264_encoder("vaapi"), Catch::Contains("'vaapi'"));
}
