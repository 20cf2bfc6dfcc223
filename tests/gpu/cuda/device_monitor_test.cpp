// A GPU that is watched, through a library of the test's own making.
#include "gpu/cuda/device_monitor.h"

#include <vector>

#include "tests/gpu/cuda/fake_nvml_library.h"

using namespace navtalk;
using namespace navtalk::cuda;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// Its options read as often as they can.
struct Watched {
  Guarded<std::vector<std::string>> told{};
  std::vector<std::string> problems() const {
    return told.with([](const auto& all) { return all; });
  }
  MonitorOptions options(const std::string& library = k_fake_nvml) {
    return {.pci_bus_id = "0000:65:00.0",
            .library = library,
            .every = 1ms,
            .retry_every = 1ms,
            .known_for = 1h,
            .tell = [this](const std::string& problem) {
              told.with([&](auto& all) { all.push_back(problem); });
            }};
  }
};

constexpr DeviceReading k_usual{.load = 0.37, .temperature = 61};

}  // namespace

TEST_CASE("the figures of a watched GPU follow it") {
  const FakeNvmlLibrary fake;
  Watched watched;
  const DeviceMonitor monitor(watched.options());
  fake.wait_for_readings();
  CHECK(monitor.latest() == k_usual);
  fake->set({.busy = 5, .celsius = 40});
  fake.wait_for_readings();
  CHECK(monitor.latest() == DeviceReading{.load = 0.05, .temperature = 40});
  CHECK(watched.problems().empty());
  CHECK(fake->calls().starts == 1);
}

TEST_CASE("an NVML that hangs holds up nobody who asks for the figures") {
  const FakeNvmlLibrary fake;
  Watched watched;
  const DeviceMonitor monitor(watched.options());
  fake.wait_for_readings();
  fake->set({.hang = true});
  fake->wait_for_a_hang();
  CHECK(monitor.latest() == k_usual);
  fake->set({});
}

TEST_CASE("figures that are too old are not told") {
  const FakeNvmlLibrary fake;
  Watched watched;
  MonitorOptions options = watched.options();
  options.known_for = -1ms;  // already too old when it is read
  const DeviceMonitor monitor(options);
  fake.wait_for_readings();
  CHECK(monitor.latest() == DeviceReading{});
}

TEST_CASE("a GPU that falls off the bus has no figures until it is back, and is told once") {
  const FakeNvmlLibrary fake;
  Watched watched;
  const DeviceMonitor monitor(watched.options());
  fake.wait_for_readings();
  fake->set({.utilization_result = 15});
  fake->wait_for_more(&FakeNvml::Calls::starts, 3);
  CHECK(monitor.latest() == DeviceReading{});
  CHECK(watched.problems() ==
        std::vector<std::string>{"nvmlDeviceGetUtilizationRates: GPU is lost (15)"});
  fake->set({});
  fake.wait_for_readings();
  CHECK(monitor.latest() == k_usual);
}

TEST_CASE("a driver that is not loaded is tried again, and a machine without NVML has no figures") {
  const FakeNvmlLibrary fake;
  fake->set({.init_result = 9});
  Watched watched, bare;
  const DeviceMonitor none(bare.options("libnavtalk-has-none.so.1"));
  const DeviceMonitor monitor(watched.options());
  fake->wait_for_more(&FakeNvml::Calls::starts, 3);
  CHECK(monitor.latest() == DeviceReading{});
  CHECK(watched.problems() == std::vector<std::string>{"nvmlInit_v2: Driver Not Loaded (9)"});
  fake->set({});
  fake.wait_for_readings();
  CHECK(monitor.latest() == k_usual);
  CHECK(none.latest() == DeviceReading{});
}
