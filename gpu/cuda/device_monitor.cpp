#include "gpu/cuda/device_monitor.h"

#include "core/base/error.h"
#include "core/base/sleep.h"

namespace navtalk::cuda {
using Clock = std::chrono::steady_clock;

DeviceMonitor::DeviceMonitor(MonitorOptions options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

DeviceReading DeviceMonitor::latest() const {
  return latest_.with([&](const Dated& latest) {
    return Clock::now() - latest.at > options_.known_for ? DeviceReading{} : latest.reading;
  });
}

void DeviceMonitor::note(const DeviceReading& reading) {
  latest_.with([&](Dated& latest) { latest = {.reading = reading, .at = Clock::now()}; });
}

// After an error NVML is closed: a GPU that fell off the bus comes back under a new handle, and a new driver with a new library.
void DeviceMonitor::read(std::optional<Nvml>& nvml) {
  try {
    if (!nvml) nvml.emplace(Nvml::open(options_.pci_bus_id, options_.library));
    note(nvml->read());
    problem_.clear();
  } catch (const Error& error) {
    note({});
    nvml.reset();
    if (options_.tell && problem_ != error.message()) options_.tell(error.message());
    problem_ = error.message();
  }
}

void DeviceMonitor::run(const std::stop_token& stop) {
  std::optional<Nvml> nvml;
  do {
    read(nvml);
  } while (sleep_for(nvml ? options_.every : options_.retry_every, stop));
}

}  // namespace navtalk::cuda
