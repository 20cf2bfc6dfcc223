// Reads a GPU's load and temperature every few seconds, on a thread of its own: a driver that is slow, broken or gone holds up
// nobody, and its figures are missing then. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/guarded.h"
#include "gpu/cuda/nvml.h"

namespace navtalk::cuda {

struct MonitorOptions {
  std::string pci_bus_id;
  std::string library = k_nvml_library;
  std::chrono::milliseconds every{2'000};
  std::chrono::milliseconds retry_every{30'000};  // after an error
  std::chrono::milliseconds known_for{10'000};    // a figure, where none follows it
  std::function<void(const std::string&)>
      tell{};  // each new problem, on that thread; it must not throw
};

class DeviceMonitor {
 public:
  // Begins at once.
  explicit DeviceMonitor(MonitorOptions options);
  // Waits for the call of NVML that is under way.
  ~DeviceMonitor() = default;
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  // The last one; without figures before the first, after an error, or when it is too old. Never waits for NVML.
  DeviceReading latest() const;

 private:
  struct Dated {
    DeviceReading reading{};
    std::chrono::steady_clock::time_point at{};
  };

  void run(const std::stop_token& stop);
  void read(std::optional<Nvml>& nvml);
  void note(const DeviceReading& reading);

  const MonitorOptions options_;
  std::string problem_{};  // the last; of the thread
  Guarded<Dated> latest_;
  std::jthread thread_;  // uses all of it
};

}  // namespace navtalk::cuda
