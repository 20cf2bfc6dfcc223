// NVML through a library of the test's own making.
#include "gpu/cuda/nvml.h"

#include "core/base/error.h"
#include "tests/gpu/cuda/fake_nvml_library.h"

using namespace navtalk;
using namespace navtalk::cuda;
using namespace navtalk::tests;

namespace {

constexpr const char* k_bus = "0000:65:00.0";

}  // namespace

TEST_CASE("load and temperature are those of the GPU at that place on the bus") {
  const FakeNvmlLibrary fake;
  {
    Nvml nvml = Nvml::open(k_bus, k_fake_nvml);
    CHECK(std::string(fake->calls().bus.data()) == k_bus);
    CHECK(nvml.read() == DeviceReading{.load = 0.37, .temperature = 61});
    fake->set({.busy = 100, .celsius = 0});
    CHECK(nvml.read() == DeviceReading{.load = 1.0, .temperature = 0});
    CHECK(fake->calls().shutdowns == 0);
  }
  CHECK(fake->calls().starts == 1);
  CHECK(fake->calls().shutdowns == 1);
}

TEST_CASE("a machine without NVML, or with one of another kind, is an error that names it") {
  CHECK_THROWS_WITH(Nvml::open(k_bus, "libnavtalk-has-none.so.1"),
                    Catch::Contains("libnavtalk-has-none.so.1"));
  CHECK_THROWS_WITH(Nvml::open(k_bus, "libm.so.6"), Catch::Contains("NVML lacks nvmlInit_v2"));
}

TEST_CASE("an NVML that does not start, or does not know the GPU, is closed and says why") {
  const FakeNvmlLibrary fake;
  fake->set({.init_result = 9});
  CHECK_THROWS_WITH(Nvml::open(k_bus, k_fake_nvml), "nvmlInit_v2: Driver Not Loaded (9)");
  CHECK(fake->calls().shutdowns == 0);  // there is nothing to end
  fake->set({.find_result = 6});
  CHECK_THROWS_WITH(Nvml::open(k_bus, k_fake_nvml),
                    "nvmlDeviceGetHandleByPciBusId_v2: unknown error (6)");
  CHECK(fake->calls().shutdowns == 1);
}

TEST_CASE("what a GPU does not measure is missing, and the rest is there") {
  const FakeNvmlLibrary fake;
  Nvml nvml = Nvml::open(k_bus, k_fake_nvml);
  for (const int result : {3, 4}) {  // not supported, no permission
    fake->set({.utilization_result = result});
    CHECK(nvml.read() == DeviceReading{.temperature = 61});
  }
  fake->set({.temperature_result = 3});
  CHECK(nvml.read() == DeviceReading{.load = 0.37});
}

TEST_CASE("figures that cannot be true are not told") {
  const FakeNvmlLibrary fake;
  Nvml nvml = Nvml::open(k_bus, k_fake_nvml);
  fake->set({.busy = 101, .celsius = 4'294'967'295U});
  CHECK(nvml.read() == DeviceReading{});
}

TEST_CASE("a GPU that fell off the bus is an error, also when only one figure says so") {
  const FakeNvmlLibrary fake;
  Nvml nvml = Nvml::open(k_bus, k_fake_nvml);
  fake->set({.temperature_result = 15});
  CHECK_THROWS_WITH(nvml.read(), "nvmlDeviceGetTemperature: GPU is lost (15)");
  fake->set({.utilization_result = 15});
  CHECK_THROWS_WITH(nvml.read(), "nvmlDeviceGetUtilizationRates: GPU is lost (15)");
}
