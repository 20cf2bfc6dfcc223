#include "gpu/features/windows.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/base/error.h"

using navtalk::context_windows;
using navtalk::frame_count;
using navtalk::NdArray;
using navtalk::Shape;

namespace {

// Whisper states of which each value names its token and layer: 10 * token + layer + 1.
NdArray<float> numbered_states(std::int64_t segments, std::int64_t layers, std::int64_t width) {
  NdArray<float> states(Shape{segments, 1500, layers, width});
  for (std::int64_t token = 0; token < segments * 1500; ++token)
    for (std::int64_t layer = 0; layer < layers; ++layer)
      for (std::int64_t d = 0; d < width; ++d)
        states.values[static_cast<std::size_t>((token * layers + layer) * width + d)] =
            static_cast<float>(10 * token + layer + 1);
  return states;
}

// The token that stands in a window's row of layer 0; -1 for padding.
int token_at(const NdArray<float>& windows, std::int64_t frame, std::int64_t token) {
  const std::int64_t layers = windows.dim(1) / 10;
  const float value = windows.row(frame)[token * layers * windows.dim(2)];
  return value == 0.0F ? -1 : static_cast<int>(value) / 10;
}

}  // namespace

TEST_CASE("frames are counted in double in the reference's order") {
  CHECK(frame_count(0, 25) == 0);
  CHECK(frame_count(639, 25) == 0);
  CHECK(frame_count(640, 25) == 1);
  CHECK(frame_count(29 * 640, 25) == 28);  // exact arithmetic says 29
  CHECK(frame_count(30 * 640, 25) == 30);
  CHECK(frame_count(480000, 25) == 750);
  CHECK(frame_count(16000, 30) == 30);
  CHECK(frame_count(16000, 7) == 7);
  int lost = 0;
  for (int i = 1; i <= 250; ++i) lost += frame_count(i * 640, 25) == i ? 0 : 1;
  CHECK(lost == 15);
}

TEST_CASE("a rate that is not whole counts and places frames by its exact value") {
  const navtalk::FrameRate ntsc(30000, 1001);
  CHECK(frame_count(16000, ntsc) == 29);
  CHECK(frame_count(16000 * 1001, ntsc) == 30000);
  CHECK(navtalk::first_token(0, ntsc) == -4);
  CHECK(navtalk::first_token(30000, ntsc) == 1001 * 50 - 4);
}

TEST_CASE("at 25 frames a second frame i sees tokens 2i-4 to 2i+5, zeros outside the audio") {
  const NdArray<float> windows = context_windows(numbered_states(1, 2, 3), 16000, 25);
  REQUIRE(windows.shape == Shape{25, 20, 3});
  for (int frame = 0; frame < 25; ++frame) {
    for (int k = 0; k < 10; ++k) {
      const int token = 2 * frame - 4 + k;
      CHECK(token_at(windows, frame, k) == (token < 0 || token >= 50 ? -1 : token));
    }
  }
}

TEST_CASE("rows are token-major: row = layers * token + layer") {
  const NdArray<float> windows = context_windows(numbered_states(1, 3, 1), 16000, 25);
  const float* frame = windows.row(10);  // first token 16
  for (int token = 0; token < 10; ++token)
    for (int layer = 0; layer < 3; ++layer)
      CHECK(frame[3 * token + layer] == static_cast<float>(10 * (16 + token) + layer + 1));
}

TEST_CASE("below 25 frames a second the padding grows to three tokens a frame") {
  const NdArray<float> windows = context_windows(numbered_states(1, 1, 1), 16000, 20);
  CHECK(token_at(windows, 4, 0) == 4);   // floor(4 * 2.5) - 6
  CHECK(token_at(windows, 5, 0) == 6);   // floor(5 * 2.5) - 6
  CHECK(token_at(windows, 2, 0) == -1);  // before the start
}

TEST_CASE("windows run on across segments") {
  const NdArray<float> windows = context_windows(numbered_states(2, 1, 1), 31 * 16000, 25);
  CHECK(windows.dim(0) == 775);
  CHECK(token_at(windows, 750, 0) == 1496);
  CHECK(token_at(windows, 750, 9) == 1505);
}

TEST_CASE("at high frame rates the last windows end in zeros") {
  const NdArray<float> windows = context_windows(numbered_states(1, 1, 1), 16000, 100);
  CHECK(windows.dim(0) == 100);
  CHECK(token_at(windows, 99, 2) == 49);
  CHECK(token_at(windows, 99, 3) == -1);
}

TEST_CASE("clips of a few tokens and empty ones are no special case") {
  CHECK(context_windows(numbered_states(1, 1, 1), 0, 25).shape == Shape{0, 10, 1});
  const NdArray<float> windows = context_windows(numbered_states(1, 1, 1), 640, 25);
  REQUIRE(windows.dim(0) == 1);
  CHECK(token_at(windows, 0, 4) == 0);
  CHECK(token_at(windows, 0, 5) == 1);
  CHECK(token_at(windows, 0, 6) == -1);
}

TEST_CASE("a frame rate below one and states that are too short are refused") {
  CHECK_THROWS_AS(frame_count(16000, 0), navtalk::Error);
  CHECK_THROWS_AS(context_windows(numbered_states(1, 1, 1), 31 * 16000, 25), navtalk::Error);
}

TEST_CASE("positions interleave sine and cosine and restart in every window") {
  const NdArray<float> table = navtalk::positional_table(50, 8);
  for (int t = 0; t < 50; ++t)
    for (int k = 0; k < 4; ++k) {
      const double angle = t * std::exp(-2.0 * k * std::log(10000.0) / 8);
      CHECK(table.row(t)[2 * k] == Approx(std::sin(angle)).margin(1e-5));
      CHECK(table.row(t)[2 * k + 1] == Approx(std::cos(angle)).margin(1e-5));
    }

  NdArray<float> windows(Shape{2, 50, 8});
  windows.values.assign(windows.values.size(), 1.0F);
  navtalk::add_positions(windows);
  CHECK(windows.row(1)[0] == 1.0F);  // sin 0
  CHECK(windows.row(1)[1] == 2.0F);  // cos 0
  CHECK(std::equal(windows.row(0), windows.row(1), windows.row(1)));
}
