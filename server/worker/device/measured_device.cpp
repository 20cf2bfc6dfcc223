#include "server/worker/device/measured_device.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "core/log/log.h"
#include "gpu/cuda/device_monitor.h"
#include "gpu/cuda/devices.h"
#include "gpu/model/device_pool.h"

namespace navtalk::server {
namespace {

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

DeviceMemory memory_of_device(const Device& device) {
  const cuda::MemoryUse use = cuda::memory_use(device.index);
  return {.total = use.total, .used = use.used, .own = device_pool(device).held};
}

DeviceMeter meter_of(const Device& device) {
  return {.now = [device] { return memory_of_device(device); },
          .most = [device] { return device_pool(device).most; },
          .restart = [device] { restart_pool(device); }};
}

// Memory is what CUDA says: of a part of a GPU (MIG) it is that part's, and a device that CUDA has lost has none. Load and
// temperature are NVML's.
std::function<DeviceUse()> device_use_of(const Device& device) {
  if (device.kind == Device::Kind::cpu) {
    return [name = this_machine().cpu] {
      return DeviceUse{
          .name = name, .memory_total = memory_bytes(), .memory_used = resident_bytes()};
    };
  }
  const cuda::DeviceProperties gpu =
      cuda::devices().list.at(static_cast<std::size_t>(device.index));
  const auto tell = [](const std::string& problem) {
    log::warn("load and temperature of the GPU are not known", {{"error", problem}});
  };
  const auto monitor = std::make_shared<cuda::DeviceMonitor>(
      cuda::MonitorOptions{.pci_bus_id = gpu.pci_bus_id, .tell = tell});
  return [name = gpu.name, index = device.index, monitor] {
    const cuda::MemoryUse memory = cuda::memory_use(index);
    const cuda::DeviceReading reading = monitor->latest();
    return DeviceUse{.name = name,
                     .memory_total = memory.total,
                     .memory_used = memory.used,
                     .utilisation = reading.load,
                     .temperature = reading.temperature};
  };
}

}  // namespace navtalk::server
