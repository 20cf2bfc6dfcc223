// The nets as `bench pipeline` times them on a device, on the CPU in the place of one; the launch behind them runs on the emulation.
#include "gpu/timing/net_times.h"

#include <catch2/catch.hpp>

#include "tests/gpu/nets/random_model.h"
#include "tests/temporary_directory.h"

namespace navtalk {

TEST_CASE("each pass of the nets is timed for each batch, and the launch behind them") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const int batches[] = {1, 2};
  const auto all = net_times(
      {.models = directory.path(), .precision = Precision::fp32, .decoded = 2, .graphs = false},
      batches, {});
  std::string passes;
  for (const PassTimes& one : all) {
    passes += one.pass + " " + std::to_string(one.batch) + ", ";
    CHECK(one.runs.size() >= 3);
    for (const auto& time : one.runs) CHECK(time.count() > 0);
  }
  CHECK(passes ==
        "unet 1, decoder 1, post-process 720p 1, frame 1, "
        "unet 2, decoder 2, post-process 720p 2, frame 2, ");
}

TEST_CASE("what a device reaches is measured, and is more than nothing and less than any CPU has") {
  const DeviceRates rates = device_rates({}, Precision::fp32, 1, {}, {});
  CHECK(rates.flop_per_s > 1e8);
  CHECK(rates.flop_per_s < 1e14);
  CHECK(rates.bytes_per_s > 1e7);
  CHECK(rates.bytes_per_s < 1e13);
}

}  // namespace navtalk
