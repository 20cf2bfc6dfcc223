// The arithmetic of MuseTalk's nets at full size, against counts that were made layer by layer elsewhere.
#include "gpu/timing/net_work.h"

#include <catch2/catch.hpp>

using namespace navtalk;

TEST_CASE("the work of MuseTalk's nets is what their layers have") {
  // 177.8 and 622.2 GFLOP as they are written; nearest upsampling as 2x2 convolutions saves 9.4 and 96.6.
  CHECK(flop_of(unet_work({}, 50)) / 1e9 == Approx(177.8 - 9.4).epsilon(0.002));
  CHECK(flop_of(decoder_work({})) / 1e9 == Approx(622.2 - 96.6).epsilon(0.002));
  CHECK(flop_of(whisper_work({})) / 1e9 == Approx(36.9).epsilon(0.005));
  double weights = 0;
  for (const LayerWork& one : unet_work({}, 50)) weights += one.weights;
  CHECK(weights / 1e6 == Approx(849.9 - 27.9).epsilon(0.02));  // without the time embedding
}

TEST_CASE("a pass takes at least what computing or moving memory takes, layer by layer") {
  const std::vector<LayerWork> layers{{.flop = 100, .weights = 10, .values = 5},
                                      {.flop = 1, .weights = 40, .values = 10}};
  const DeviceRates rates{.flop_per_s = 10, .bytes_per_s = 20};
  // Computing: 10 s and 0.1 s; memory: 15 and 50 numbers of two bytes.
  CHECK(least_seconds(layers, 1, 2, rates) == Approx(10 + 5));
  // The weights are read once.
  CHECK(least_seconds(layers, 4, 2, rates) == Approx(40 + 8));
  CHECK(least_seconds(layers, 4, 4, rates) == Approx(40 + 16));
}
